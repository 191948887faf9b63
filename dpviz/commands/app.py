"""Open the dashboard in the browser.

It listens on this computer only. Its pages, samples and settings come with dpviz, so it can be started from any folder.
A proxy on this computer may serve it under another address, which is then named with --public-address.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any
from urllib.parse import urlsplit

from dpviz.commands.arguments import whole
from dpviz.installation import require_extra
from dpviz.io.limits import MAX_BYTES


def add_arguments(parser: ArgumentParser) -> None:
    """Port, browser and public address."""
    parser.add_argument("--port", type=whole(1, 65535), metavar="N", help="port to listen on (default: 8501, or one after it)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    words = "address at which a proxy on this computer serves it, such as https://trees.example.org"
    parser.add_argument("--public-address", type=_address, metavar="URL", help=words)


def _address(text: str) -> str:
    """Scheme, host and perhaps a port, as browsers write an origin."""
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - raises when it is no number
    except ValueError:
        parts = urlsplit("")
    plain = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or text.rstrip("/") != plain:
        raise ArgumentTypeError(f"must be an address such as https://trees.example.org, got {text!r:.80}")
    return plain.lower()


def run(args: Namespace) -> int:
    """Become the server. Streamlit reads the settings from `.streamlit/config.toml` beside app.py, before those of the user."""
    require_extra("app", "The dashboard", "streamlit", "plotly", "pyarrow")
    config: dict[str, Any] = {"server.maxUploadSize": max(1, MAX_BYTES >> 20)}
    if args.port is not None:
        config["server.port"] = args.port
    if args.no_browser:
        config["server.headless"] = True
    code = f"from dpviz.app.serving import serve; serve({args.public_address!r}, {config!r})"
    os.execv(sys.executable, [sys.executable, "-P", "-c", code])  # -P: this folder holds no modules of ours
