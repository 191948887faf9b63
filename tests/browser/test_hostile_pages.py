"""Pages of others in a real browser: they frame the dashboard, send it commands, fetch from it and upload to it, all in vain.

With Chromium's own checks of the local network and without them, at the server itself and behind a proxy as the README has it,
which may keep the name that the visitor asked for or not.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Thread
from typing import Any

import pytest

from tests.support.serving import BROWSER_ARGUMENTS, ROOT, free_port, process_of
from tests.support.visiting import press, visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

#: Streamlit takes commands from the first unless told otherwise; the others are other programs on this computer, and a stranger.
STRANGERS = ("https://evil.streamlit.app", "http://localhost:18765", "http://127.0.0.1:18765", "http://evil.example")
CHECKS = "LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
UPLOAD = "/_stcore/upload_file/0/0"
ATTACK = """async ([address, upload]) => {
  const done = {};
  const frame = (kind, source) => new Promise((over) => {
    const made = document.createElement(kind);
    made.onload = made.onerror = () => over(made);
    made[source] = address;
    document.body.append(made);
    setTimeout(() => over(made), 3000);
  });
  for (const [kind, source] of [["iframe", "src"], ["embed", "src"], ["object", "data"]]) {
    const made = await frame(kind, source);
    const elsewhere = {prefix: "https://evil.example", headers: {}};
    for (const [type, more] of [["SET_FILE_UPLOAD_CLIENT_CONFIG", elsewhere], ["STOP_SCRIPT", {}]])
      made.contentWindow?.postMessage({stCommVersion: 1, type, ...more}, "*");
  }
  const attempt = async (name, how) => { try { done[name] = await how(); } catch (error) { done[name] = null; } };
  for (const path of ["/", "/_stcore/health", "/_stcore/host-config", upload]) {
    await attempt("read " + path, async () => (await fetch(address + path)).status);
    await attempt("reach " + path, async () => (await fetch(address + path, {mode: "no-cors"})).ok || null);
  }
  await attempt("put", async () => (await fetch(address + upload, {method: "PUT", body: new FormData()})).status);
  await attempt("post", async () => (await fetch(address + upload, {method: "POST", body: "x", mode: "no-cors"})).ok || null);
  await attempt("script", () => new Promise((yes, no) => {
    const made = document.createElement("script");
    made.onload = () => yes("loaded"); made.onerror = no;
    made.src = address + "/_stcore/health";
    document.body.append(made);
  }));
  await attempt("websocket", () => new Promise((yes, no) => {
    const line = new WebSocket(address.replace("http", "ws") + "/_stcore/stream", ["streamlit"]);
    line.onopen = () => yes("open"); line.onerror = no;
  }));
  return done;
}"""


@contextmanager
def proxy(to: int, name: bytes | None) -> Iterator[int]:
    """Passes on everything to a port, websockets included; `name` stands instead of the host that was asked for. Its port."""

    def pump(source: socket.socket, sink: socket.socket, host: bytes | None) -> None:
        with suppress(OSError):  # either side has gone: so does the other
            while chunk := source.recv(1 << 16):
                sink.sendall(chunk if host is None or name is None else chunk.replace(b"Host: " + host, b"Host: " + name))
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def join(visitor: socket.socket) -> None:
        with visitor, socket.create_connection(("localhost", to)) as server:
            back = Thread(target=pump, args=(server, visitor, None), daemon=True)
            back.start()
            pump(visitor, server, f"trees.localhost:{port}".encode())
            back.join()

    def accept() -> None:
        with suppress(OSError):  # closed
            while True:
                Thread(target=join, args=(door.accept()[0],), daemon=True).start()

    with closing(socket.create_server(("localhost", 0))) as door:
        port = door.getsockname()[1]
        Thread(target=accept, daemon=True).start()
        yield port


#: (dashboard, browser). The server has to refuse by itself, so its proxies are asked by a browser that checks nothing.
WAYS = (
    ("streamlit run", "checked"),
    ("streamlit run", "unchecked"),
    ("direct", "checked"),
    ("direct", "unchecked"),
    ("proxy that keeps the name", "unchecked"),
    ("proxy that names localhost", "unchecked"),
)


@pytest.fixture(scope="module")
def dashboard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address, as a visitor knows it: of `dpviz app`, of `streamlit run app.py`, or of a proxy in front."""
    command = [sys.executable, "-m", "dpviz", "app", "--no-browser"]
    folder = tmp_path_factory.mktemp("elsewhere")
    with ExitStack() as end:
        if request.param == "streamlit run":
            own = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true", "--server.port"]
            yield end.enter_context(process_of(own, folder, ENVIRONMENT))[0]
            return
        if request.param == "direct":
            yield end.enter_context(process_of([*command, "--port"], folder, ENVIRONMENT))[0]
            return
        free = free_port()
        name = None if "keeps" in request.param else f"localhost:{free}".encode()
        address = f"http://trees.localhost:{end.enter_context(proxy(free, name))}"
        end.enter_context(process_of([*command, "--public-address", address, "--port"], folder, ENVIRONMENT, free))
        yield address


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, browser_path: str | None) -> Iterator[Any]:
    """Chromium with its checks of who may ask the local network, and without."""
    from playwright.sync_api import sync_playwright

    switch = f"--{'enable' if request.param == 'checked' else 'disable'}-features={CHECKS}"
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=browser_path, args=[*BROWSER_ARGUMENTS, switch])
        yield found
        found.close()


@pytest.mark.parametrize(("dashboard", "browser"), WAYS, indirect=True)
def test_no_page_elsewhere_gets_anything_our_own_goes_on_working_and_a_link_leads_here(dashboard: str, browser: Any) -> None:
    context = visitor(browser)
    for stranger in STRANGERS:
        page = context.new_page()
        answers: list[tuple[int, str]] = []
        page.on("response", lambda answer, into=answers: into.append((answer.status, answer.url)))
        page.route(f"{stranger}/**", lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html"))
        page.goto(f"{stranger}/page")
        gained = page.evaluate(ATTACK, [dashboard, UPLOAD])
        assert [part for part in page.frames if part.locator("#root").count()] == [], stranger
        assert {name: what for name, what in gained.items() if what is not None} == {}, stranger
        assert {status for status, url in answers if url.startswith(dashboard)} <= {403}
        page.close()
    page = context.new_page()
    page.goto(f"{dashboard}/data")  # pages, scripts, the websocket
    press(page, page.get_by_text("Public", exact=True))
    press(page, page.get_by_role("radio", name="A file"))
    rows = {"name": "ward.csv", "mimeType": "text/csv", "buffer": b"ward,age,y\nnorth,31,n\nsouth,47,p\n"}
    page.get_by_test_id("stFileUploader").filter(has_text="Table").locator("input[type=file]").set_input_files(rows)
    page.get_by_text("Public schema").wait_for()
    link = f"<a href={dashboard}>trees</a>"
    page.route("http://wiki.example/**", lambda route: route.fulfill(body=link, content_type="text/html"))
    page.goto("http://wiki.example/")  # a link elsewhere leads here
    page.get_by_role("link").click()
    page.locator("[data-testid=stApp]").wait_for()
    context.close()
