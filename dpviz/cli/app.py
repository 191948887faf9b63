"""Commands that open something in the browser: app and docs."""

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any
from webbrowser import open as show

from dpviz.cli import console
from dpviz.cli.options import flag, option, shared, whole
from dpviz.errors import DpvizError
from dpviz.installation import LESSONS_ONLY, bundled, manual, require_extra
from dpviz.io.limits import MAX_BYTES

#: The lessons' own script. It stands in a folder without `pages/`, so that Streamlit finds no other page beside it.
LESSONS_SCRIPT = Path(__file__).parents[1] / "app" / "learn" / "main.py"


def _address(text: str) -> str:
    """Scheme, host and perhaps a port, as browsers write an origin."""
    address = text.rstrip("/").lower()
    if not re.fullmatch(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?", address):
        raise ArgumentTypeError(f"must be an address such as https://trees.example.org, got {text!r:.80}")
    return address


def _ip(text: str) -> IPv4Address | IPv6Address:
    """One address, not all of them: it is the one that a class gets as a link."""
    try:
        address = ip_address(text)
    except ValueError:
        address = IPv4Address(0)
    if address.is_unspecified:
        raise ArgumentTypeError(f"must be one IP address of this computer, such as 192.168.1.20, got {text!r:.80}")
    return address


OPTIONS = {
    "app": {
        "--port": option(whole(1, 65535), "N", "port to listen on (default: 8501, or one after it)"),
        **shared("--no-browser"),
        "--public-address": option(
            _address, "URL", "address at which a proxy on this computer serves it, such as https://trees.example.org"
        ),
        "--lessons": flag("the lessons only, for a class"),
        "--address": option(_ip, "IP", "with --lessons: listen on this address of the computer"),
    },
    "docs": {"--no-browser": flag("print where it is instead of opening a browser"), **shared("--json")},
}


def run_app(args: Namespace) -> int:
    """Open the dashboard in the browser.

    It listens on this computer only. Its pages, samples and settings come with dpviz, so it can be started from any folder.
    A proxy on this computer may serve it under another address, which is then named with --public-address.

    With --lessons there are the lessons and nothing else: no uploads, no private rows, no register, no request to anywhere.
    Only then may it listen on the network, for a room: `dpviz app --lessons --address 192.168.1.20`, with an address of this
    computer.

    Example: dpviz app --port 8600
    """
    require_extra("app", "The dashboard", "streamlit", "plotly", "pyarrow")
    if args.address is not None and not args.lessons:
        raise DpvizError("The dashboard listens on this computer only.", where="--address", remedy="Add --lessons for a class.")
    if args.address is not None:
        _require_own(args.address)
    config: dict[str, Any] = {"server.maxUploadSize": max(1, MAX_BYTES >> 20)}
    if args.port is not None:
        config["server.port"] = args.port
    if args.no_browser:
        config["server.headless"] = True
    script, public = bundled("app.py"), args.public_address
    if args.lessons:  # Streamlit finds its settings beside app.py, or else in the working folder
        os.chdir(bundled(".streamlit/config.toml").parents[1])
        os.environ[LESSONS_ONLY] = "1"
        script, config["server.maxUploadSize"] = LESSONS_SCRIPT, 0
        if args.address is not None:
            config["server.address"] = str(args.address)
            host = f"[{args.address}]" if args.address.version == 6 else args.address
            public = public or f"http://{host}"
    code = f"from dpviz.app.serving import serve; serve({str(script)!r}, {public!r}, {config!r})"
    os.execv(sys.executable, [sys.executable, "-P", "-c", code])  # -P: this folder holds no modules of ours


def _require_own(address: IPv4Address | IPv6Address) -> None:
    """Raise DpvizError where this computer cannot listen on this address."""
    from socket import AF_INET, AF_INET6, create_server  # noqa: TID251 - it asks nobody, and binds

    try:
        create_server((str(address), 0), family=AF_INET6 if address.version == 6 else AF_INET).close()
    except OSError:
        remedy = "Give an address of this computer, such as the one that its network settings show."
        raise DpvizError("This computer does not have this address.", where="--address", remedy=remedy) from None


def run_docs(args: Namespace) -> int:
    """Open the documentation in the browser. It is part of dpviz: nothing is fetched.

    In a clone, `make docs` builds it once.

    Example: dpviz docs
    """
    page = manual().as_uri()
    if args.no_browser or not show(page):
        console.show_pairs([("documentation", page)])
    return 0
