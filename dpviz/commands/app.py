"""Open the dashboard in the browser.

It listens on this computer only. Its pages, samples and settings come with dpviz, so it can be started from any folder.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from dpviz.commands.arguments import whole
from dpviz.installation import bundled, require_extra
from dpviz.io.limits import MAX_BYTES


def add_arguments(parser: ArgumentParser) -> None:
    """Port and browser."""
    parser.add_argument("--port", type=whole(1, 65535), metavar="N", help="port to listen on (default: 8501, or one after it)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")


def run(args: Namespace) -> int:
    """Become the server. Streamlit reads the settings from `.streamlit/config.toml` beside app.py, before those of the user."""
    require_extra("app", "The dashboard", "streamlit", "plotly", "pyarrow")
    words = [sys.executable, "-P", "-m", "streamlit", "run", str(bundled("app.py"))]  # -P: this folder holds no modules of ours
    words += ["--server.maxUploadSize", str(max(1, MAX_BYTES >> 20))]
    if args.port is not None:
        words += ["--server.port", str(args.port)]
    if args.no_browser:
        words += ["--server.headless", "true"]
    os.execv(sys.executable, words)
