"""`dpviz app`: the address under which it may be served."""

import os

import pytest

from dpviz.commands import app


class Started(Exception):
    pass


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("https://trees.example.org", "https://trees.example.org"),
        ("https://Trees.Example.org/", "https://trees.example.org"),
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080"),
    ],
)
def test_the_server_gets_the_public_address_as_browsers_write_it(monkeypatch, run, given, known):
    def started(_, words):
        raise Started(words[-1])

    monkeypatch.setattr(app.os, "execv", started)
    with pytest.raises(
        Started, match=rf"serve\('.*app\.py', '{known}', {{'server.maxUploadSize': \d+, 'server.headless': True}}\)"
    ):
        run("app", "--no-browser", "--public-address", given)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "trees.example.org",
        "ftp://a.example",
        "https://",
        "https://a@b.example",
        "https://a.example/path",
        "https://a:x",
        "https://[",
    ],
)
def test_what_is_no_address_of_a_page_is_refused(monkeypatch, refused, given):
    monkeypatch.setattr(os, "execv", None)
    assert "must be an address such as https://trees.example.org" in refused("app", "--public-address", given)
