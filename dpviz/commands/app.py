"""Open the dashboard in the browser.

It listens on this computer only. Its pages, samples and settings come with dpviz, so it can be started from any folder.
A proxy on this computer may serve it under another address, which is then named with --public-address.

With --lessons there are the lessons and nothing else: no uploads, no private rows, no register, no request to anywhere. Only then
may it listen on the network, for a room: `dpviz app --lessons --address 192.168.1.20`, with an address of this computer.

Example: dpviz app --port 8600
"""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dpviz.commands.arguments import whole
from dpviz.errors import DpvizError
from dpviz.installation import LESSONS_ONLY, bundled, require_extra
from dpviz.io.limits import MAX_BYTES

#: The lessons' own script. It stands in a folder without `pages/`, so that Streamlit finds no other page beside it.
LESSONS_SCRIPT = Path(__file__).parents[1] / "app" / "learn" / "main.py"


def add_arguments(parser: ArgumentParser) -> None:
    """Port, browser, public address, and what a class needs."""
    parser.add_argument("--port", type=whole(1, 65535), metavar="N", help="port to listen on (default: 8501, or one after it)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    words = "address at which a proxy on this computer serves it, such as https://trees.example.org"
    parser.add_argument("--public-address", type=_address, metavar="URL", help=words)
    parser.add_argument("--lessons", action="store_true", help="the lessons only, for a class")
    parser.add_argument("--address", type=_ip, metavar="IP", help="with --lessons: listen on this address of the computer")


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


def _ip(text: str) -> IPv4Address | IPv6Address:
    """One address, not all of them: it is the one that a class gets as a link."""
    try:
        address = ip_address(text)
    except ValueError:
        address = IPv4Address(0)
    if address.is_unspecified:
        raise ArgumentTypeError(f"must be one IP address of this computer, such as 192.168.1.20, got {text!r:.80}")
    return address


def run(args: Namespace) -> int:
    """Become the server. Raises DpvizError when the whole dashboard is to listen on the network."""
    require_extra("app", "The dashboard", "streamlit", "plotly", "pyarrow")
    if args.address is not None and not args.lessons:
        raise DpvizError("The dashboard listens on this computer only.", where="--address", remedy="Add --lessons for a class.")
    config: dict[str, Any] = {"server.maxUploadSize": max(1, MAX_BYTES >> 20)}
    if args.port is not None:
        config["server.port"] = args.port
    if args.no_browser:
        config["server.headless"] = True
    script, public = bundled("app.py"), args.public_address
    if args.lessons:
        script, public = LESSONS_SCRIPT, public or _as_origin(args.address)
        config |= _only_lessons(args.address)
    code = f"from dpviz.app.serving import serve; serve({str(script)!r}, {public!r}, {config!r})"
    os.execv(sys.executable, [sys.executable, "-P", "-c", code])  # -P: this folder holds no modules of ours


def _as_origin(address: IPv4Address | IPv6Address | None) -> str | None:
    if address is None:
        return None
    return f"http://[{address}]" if address.version == 6 else f"http://{address}"


def _only_lessons(address: IPv4Address | IPv6Address | None) -> dict[str, Any]:
    """Close what lessons do not need. Streamlit finds its settings beside app.py, or else in the working folder."""
    os.chdir(bundled(".streamlit/config.toml").parents[1])
    os.environ[LESSONS_ONLY] = "1"
    return {"server.maxUploadSize": 0, **({} if address is None else {"server.address": str(address)})}
