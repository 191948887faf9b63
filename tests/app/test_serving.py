"""Who may ask the dashboard's server: this computer and the one address it was given, under their own names."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing, suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router
from streamlit.starlette import App

from dpviz import installation
from dpviz.app import serving
from dpviz.app.serving import HostFilter
from tests.support.paths import SOON
from tests.support.serving import ROOT, process_of

PUBLIC = "https://trees.example.org"
OURS = [
    ({"host": "localhost:8501"}, None),
    ({"host": "LOCALHOST"}, None),
    ({"host": "127.0.0.1:80"}, None),
    ({"host": "[::1]:8501", "origin": "http://[::1]:8501"}, None),
    ({"host": "localhost:8501", "origin": "http://localhost:8501"}, None),
    ({"host": "trees.example.org", "origin": PUBLIC}, PUBLIC),  # a proxy that keeps the name
    ({"host": "localhost:8501", "origin": PUBLIC}, PUBLIC),  # and one that does not
]
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FRAMES = ("iframe", "frame", "fencedframe", "embed", "object")
OURS += [
    ({"host": "localhost:8501", **said}, None)
    for said in (
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "websocket", "sec-fetch-dest": "empty"},
        {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},  # typed
    )
]
FOREIGN = [
    ({}, None),
    ({"host": ""}, None),
    ({"host": "evil.example"}, None),
    ({"host": "localhost.evil.example:8501"}, None),
    ({"host": "evil.example@localhost"}, None),
    ({"host": "localhost/evil.example"}, None),
    ({"host": "localhost:99999999"}, None),
    ({"host": "[::1"}, None),
    ({"host": "trees.example.org", "origin": PUBLIC}, None),
    ({"host": "localhost:8501", "origin": "http://evil.example"}, None),
    ({"host": "localhost:8501", "origin": "http://localhost:8502"}, None),  # another program on this computer
    ({"host": "localhost:8501", "origin": "null"}, PUBLIC),
    ({"host": "localhost:8501", "origin": ""}, None),
    ({"host": "localhost:8501", "origin": f"{PUBLIC}.evil.example"}, PUBLIC),
    ({"host": "evil.example", "origin": "http://evil.example"}, PUBLIC),
    *(({"host": "localhost", "sec-fetch-site": site}, None) for site in ("cross-site", "same-site", "")),
    # any frame: the page needs none of its own
    *(({"host": "localhost", **LINK, "sec-fetch-site": "same-origin", "sec-fetch-dest": kind}, None) for kind in FRAMES),
    *(
        ({"host": "localhost", **LINK, name: value}, None)
        for name, value in (("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", ""))
    ),
]


def answers(
    app: Any, headers: Iterable[tuple[str, str]] = (), *, kind: str = "http", method: str = "GET", path: str = "/"
) -> Any:
    """The messages with which an ASGI application answers, also where it fails."""
    sent: list[Any] = []

    async def receive() -> Any:
        await (asyncio.sleep(0) if kind == "websocket" else asyncio.Event().wait())  # nobody goes away
        return {"type": f"{kind}.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "root_path": "", "query_string": b""}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers]}
    with suppress(RuntimeError):
        asyncio.run(app(scope | ({"method": method} if kind == "http" else {}), receive, send))
    return sent


def asked(headers: Iterable[tuple[str, str]], public: str | None, kind: str, **how: str) -> tuple[list[Any], list[Any]]:
    """(scopes that reach Streamlit, messages that are answered)."""
    reached: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await send({"type": "websocket.accept"} if kind == "websocket" else {"type": "http.response.start", "status": 200})

    return reached, answers(HostFilter(streamlit, public), headers, kind=kind, **how)


def is_unframed(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether an answer forbids frames."""
    wanted = {("content-security-policy", "frame-ancestors 'none'"), ("x-frame-options", "DENY")}
    return wanted <= {(name.lower(), value) for name, value in headers}


def headers_of(message: Any) -> list[tuple[str, str]]:
    return [(name.decode(), value.decode()) for name, value in message["headers"]]


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_our_own_page_and_a_link_elsewhere_reach_streamlit_without_an_origin_to_look_up_and_nothing_foreign_does(kind) -> None:
    for headers, public in OURS:
        (scope,), (start,) = asked(headers.items(), public, kind)
        kept = {name: value for name, value in headers.items() if name != "origin"}
        assert {name.decode(): value.decode() for name, value in scope["headers"]} == {**kept, serving.CHECKED: "1"}
        assert is_unframed(headers_of(start))
    for headers, public in FOREIGN:
        reached, (start, _) = asked(headers.items(), public, kind)
        assert (reached, start["status"]) == ([], 403), headers
        assert is_unframed(headers_of(start))
    link = [("host", "localhost:8501"), *LINK.items()]
    assert bool(asked(link, None, kind)[0]) == (kind == "http")
    assert not asked(link, None, kind, method="POST")[0]


@pytest.mark.parametrize("twice", [("host", "evil.example"), ("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "iframe")])
def test_two_values_at_once_are_as_good_as_the_worse_and_nobody_says_that_they_were_checked(twice: tuple[str, str]) -> None:
    first = [("host", "localhost"), ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty")]
    (scope,), _ = asked([*first, (serving.CHECKED, "forged")], None, "http")
    assert [value for name, value in scope["headers"] if name.decode() == serving.CHECKED] == [b"1"]
    assert not asked([*first, twice], None, "http")[0]


def test_an_answer_to_what_fails_forbids_frames_and_says_nothing_of_it():
    async def failing(request: Any) -> None:
        raise RuntimeError("a private cell")

    checked = serving.checked_requests()
    app = Starlette(routes=[Route("/", failing), *checked.pop("routes")], **checked)
    start, body = answers(app, [("host", "localhost")])
    assert start["status"] == 500
    assert is_unframed(headers_of(start))
    assert b"private" not in body["body"]


def answer(port: int, headers: dict[str, str], path: str = "/", *, upgrade: bool = False) -> tuple[int, Any, bytes]:
    """(status, headers, body) of the answer to one request, or to the wish for a websocket."""
    wish = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "A" * 22 + "==",
    }
    with closing(http.client.HTTPConnection("localhost", port, timeout=SOON)) as line:
        line.request("GET", "/_stcore/stream" if upgrade else path, headers={**headers, **(wish if upgrade else {})})
        found = line.getresponse()
        return found.status, found.headers.items(), found.read()


def statuses(port: int, headers: dict[str, str]) -> list[int]:
    """Of the page and of its websocket."""
    return [answer(port, headers, upgrade=upgrade)[0] for upgrade in (False, True)]


DPVIZ = [sys.executable, "-m", "dpviz", "app", "--no-browser", "--port"]
STREAMLIT = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless", "true", "--server.port"]
PLACES = ("/", "/data", "/_stcore/health", "/_stcore/host-config", "/favicon.png", "/no/such", "/_stcore/upload_file/0/0")


@pytest.mark.slow
@pytest.mark.parametrize("command", [DPVIZ, STREAMLIT], ids=["dpviz", "streamlit"])
def test_either_command_runs_a_server_that_refuses_strangers_and_whose_every_answer_forbids_frames(command, tmp_path) -> None:
    """Streamlit's own is started from anywhere, by the file alone."""
    with process_of(command, tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)}) as (address, _):
        port = int(address.rpartition(":")[2])
        own = {"Host": f"localhost:{port}"}
        assert statuses(port, own) == [200, 101]
        foreign = [{"Host": "evil.example"}, {**own, "Origin": "http://evil.example"}, {**own, "Sec-Fetch-Dest": "iframe"}]
        for headers in foreign:
            assert statuses(port, headers) == [403, 403], headers
        for path in PLACES:
            for headers in (own, foreign[-1]):
                assert is_unframed(answer(port, headers, path)[1]), (path, headers)
        assert json.loads(answer(port, own, "/_stcore/host-config")[2])["allowedOrigins"] == [], "no page may send commands"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace watches the system calls")
def test_no_foreign_page_makes_the_server_ask_anybody(tmp_path: Any) -> None:
    """Streamlit alone connects to 8.8.8.8 and asks a public service for its address when a foreign page wants a websocket."""
    calls = tmp_path / "calls"
    watched = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(calls)]
    if subprocess.run([*watched, "true"], check=False, capture_output=True).returncode:
        pytest.skip("strace may not watch here")
    with process_of([*watched, *DPVIZ], tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)}) as (address, process):
        port = int(address.rpartition(":")[2])
        own = {"Host": f"localhost:{port}"}
        try:
            assert statuses(port, {**own, "Origin": f"http://localhost:{port}"}) == [200, 101]
            for foreign in ({**own, "Origin": "http://evil.example"}, {"Host": "evil.example"}):
                assert statuses(port, foreign) == [403, 403]
        finally:
            for child in _children(process.pid):
                subprocess.run(["kill", str(child)], check=False)
            process.wait()
    text = calls.read_text(errors="replace")
    addresses = set(re.findall(r'(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"', text))
    assert "connect(" in text
    assert addresses <= {"127.0.0.1", "::1"}


def _children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def test_the_environment_sets_what_streamlit_s_own_command_line_reads_from_it(monkeypatch):
    asked = {}
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "8599")
    monkeypatch.setenv("STREAMLIT_SERVER_HEADLESS", "True")
    monkeypatch.setenv("STREAMLIT_SERVER_FILE_WATCHER_TYPE", "none")
    monkeypatch.setattr(serving.App, "run", lambda self, *, config: asked.update(config))
    serving.serve("app.py", None, {"server.headless": False})
    assert (asked["server.port"], asked["server.fileWatcherType"]) == (8599, "none")
    assert asked["client.allowedOrigins"] == []  # Streamlit's own list names pages of its makers
    assert asked["server.headless"] is False  # what was asked on the command line comes first


def documentation(path: str) -> tuple[int, bytes]:
    """Status and body of a page of it."""
    start, *bodies = answers(Router(routes=serving.checked_requests()["routes"]), path=path)
    return start["status"], b"".join(message.get("body", b"") for message in bodies)


def test_help_is_the_documentation_or_how_to_build_it_and_nothing_for_a_class(tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "installation.py"))
    status, said = documentation("/manual/how-to/plan.html")
    assert (status, b"Run `make docs`" in said) == (404, True)
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "index.html").write_text("<h1>dpviz</h1>", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("no", encoding="utf-8")
    assert documentation("/manual/index.html") == (200, b"<h1>dpviz</h1>")
    with pytest.raises(HTTPException):
        documentation("/manual/../secret.txt")
    monkeypatch.setenv(installation.LESSONS_ONLY, "1")
    assert serving.checked_requests()["routes"] == []


#: Every endpoint that Streamlit has -> whether it is open.
ENDPOINTS = {
    "/_stcore/health": True,
    "/_stcore/host-config": True,  # which sites may send commands: none
    "/_stcore/stream": True,
    "/_stcore/upload_file/{session_id}/{file_id}": True,
    "/_stcore/bidi-components/{path:path}": True,
    "/component/{path:path}": True,
    "/media/{file_id:path}": True,
    "": True,  # the pages themselves
    "/_stcore/metrics": False,
    "/_stcore/agent/interact": False,
    "/_stcore/agent/openapi.json": False,
    "/_stcore/agent/mcp": False,
    "/auth/login": False,
    "/auth/logout": False,
    "/oauth2callback": False,
}


def test_every_endpoint_of_streamlit_is_open_or_closed_on_purpose_to_our_own_page_too():
    """A new version may bring others: each is looked at first."""
    app: Any = App(str(ROOT / "app.py"))._build_starlette_app()
    assert {getattr(route, "path", "") for route in app.routes} == set(ENDPOINTS)
    for path, is_open in ENDPOINTS.items():
        for place, kind in ((before + path, kind) for before in ("", "/base") for kind in ("http", "websocket")):
            reached, sent = asked([("host", "localhost:8501")], None, kind, path=place)
            assert bool(reached) is is_open, place
            assert sent[0]["type"] == "websocket.accept" or sent[0]["status"] in (200, 403)
