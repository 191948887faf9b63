"""A server of its own for browser tests and for the screenshots of the README."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.support.paths import ROOT, SOON

#: The last: whoever drives a browser makes it note where every script was called, for which it parses large functions again
#: and again. Plotly's script took 1.0 s instead of the .4 s in a browser that nobody drives; with this, .5 s.
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--js-flags=--no-enable-lazy-source-positions",
]


def installed_browser() -> str | None:
    """The Chromium that DPVIZ_BROWSER names, or one on the path; None where Playwright's own is to be tried."""
    return os.environ.get("DPVIZ_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def serve(script: Path) -> Iterator[str]:
    """A fresh server that runs `script`; its address."""
    with running(command_for(script), ROOT, {**os.environ, "PYTHONPATH": str(ROOT)}) as address:
        yield address


def command_for(script: Path, config: Mapping[str, Any] = MappingProxyType({})) -> list[str]:
    """What starts a server, with these options of Streamlit; a free port is to follow."""
    code = f"""import sys
from dpviz.app.serving import serve
serve({str(script)!r}, None, {{"server.headless": True, "server.port": int(sys.argv[1]), **{dict(config)!r}}})"""
    return [sys.executable, "-P", "-c", code]


@contextmanager
def running(command: list[str], folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """A server started by `command` and a free port; its address."""
    with process_of(command, folder, environment) as (address, _):
        yield address


@contextmanager
def process_of(
    command: list[str], folder: Path, environment: Mapping[str, str], port: int | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same, with its process; at a given port, if there is one."""
    port = port or free_port()
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, str(port)], cwd=folder, env=environment, **quiet)
    try:
        _await(port, process)
        yield f"http://localhost:{port}", process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port of this computer at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        with socket.socket() as probe:
            if not probe.connect_ex(("localhost", port)):
                return
    raise AssertionError("the server does not answer")
