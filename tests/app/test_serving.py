"""Who may ask the dashboard's server: this computer and the one address it was given, under their own names."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from dpviz.app import serving
from dpviz.app.serving import OnlyHere
from tests.browser.serving import ROOT, process_of

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
]


def asked(headers: dict[str, str], public: str | None, kind: str) -> tuple[list[Any], list[Any]]:
    """(scopes that reach Streamlit, messages of a refusal)."""
    reached: list[Any] = []
    sent: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def receive() -> Any:
        return {"type": f"{kind}.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "headers": [(name.encode(), value.encode()) for name, value in headers.items()]}
    asyncio.run(OnlyHere(streamlit, public)(scope, receive, send))
    return reached, sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(("headers", "public"), OURS)
def test_our_own_page_reaches_streamlit_without_an_origin_to_look_up(
    headers: dict[str, str], public: str | None, kind: str
) -> None:
    (scope,), sent = asked(headers, public, kind)
    assert scope["headers"] == [(b"host", headers["host"].encode())]
    assert sent == []


@pytest.mark.parametrize(("headers", "public"), FOREIGN)
def test_a_foreign_name_or_page_never_reaches_streamlit(headers: dict[str, str], public: str | None) -> None:
    reached, (start, _) = asked(headers, public, "http")
    assert (reached, start["status"]) == ([], 403)
    reached, (close,) = asked(headers, public, "websocket")
    assert (reached, close["type"]) == ([], "websocket.close")


def test_two_names_at_once_are_no_name() -> None:
    reached: list[Any] = []
    messages: list[Any] = []

    async def streamlit(*given: Any) -> None:
        reached.append(given)

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "http", "headers": [(b"host", b"localhost"), (b"host", b"evil.example")]}
    asyncio.run(OnlyHere(streamlit, None)(scope, streamlit, send))  # type: ignore[arg-type]
    assert (reached, messages[0]["status"]) == ([], 403)


def status(port: int, headers: dict[str, str], *, upgrade: bool) -> int:
    """What the server answers to one request, or to the wish for a websocket."""
    line = http.client.HTTPConnection("localhost", port, timeout=60)
    wish = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "A" * 22 + "==",
    }
    try:
        line.request("GET", "/_stcore/stream" if upgrade else "/", headers={**headers, **(wish if upgrade else {})})
        return line.getresponse().status
    finally:
        line.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace watches the system calls")
def test_no_foreign_page_makes_the_server_ask_anybody(tmp_path: Any) -> None:
    """Streamlit alone connects to 8.8.8.8 and asks a public service for its address when a foreign page wants a websocket."""
    calls = tmp_path / "calls"
    watched = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(calls)]
    if subprocess.run([*watched, "true"], check=False, capture_output=True).returncode:
        pytest.skip("strace may not watch here")
    command = [*watched, sys.executable, "-m", "dpviz", "app", "--no-browser", "--port"]
    with process_of(command, tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)}) as (address, process):
        port = int(address.rpartition(":")[2])
        own = {"Host": f"localhost:{port}"}
        try:
            assert status(port, own, upgrade=False) == 200
            assert status(port, {**own, "Origin": f"http://localhost:{port}"}, upgrade=True) == 101
            for foreign in ({**own, "Origin": "http://evil.example"}, {"Host": "evil.example"}):
                assert [status(port, foreign, upgrade=upgrade) for upgrade in (False, True)] == [403, 403]
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
    assert asked["server.headless"] is False  # what was asked on the command line comes first
