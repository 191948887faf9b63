"""The dashboard's server: Streamlit behind a check of who asks.

Streamlit compares a foreign origin with this computer's own addresses, which it asks the internet for, takes any host name of a
page, may be framed by any page, and takes commands from pages of its makers. Here a request is refused before Streamlit sees it,
unless it names this computer or the one public address that was given, and comes from no other page and no frame; no page may
frame an answer, and none may send commands.
"""

import os
import re
import tomllib
from importlib import import_module
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.config import get_options_for_section
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from dpviz.errors import DpvizError
from dpviz.installation import lessons_only, manual

#: Names of this computer.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
#: Stands in every answer: no page may show it in a frame.
NO_FRAMES = {"content-security-policy": "frame-ancestors 'none'", "x-frame-options": "DENY"}
#: The header that says to the pages that a request came through this check.
CHECKED = "x-dpviz-checked"
#: Where the pages of the documentation are, below the server's address.
MANUAL = "manual"
#: What Streamlit answers besides, and nobody needs here: agents that drive an app, logins, figures of the server.
CLOSED = ("/_stcore/agent/", "/_stcore/metrics", "/auth/", "/oauth2callback")
_REFUSED, _NOT_FOUND, _FAILED = 403, 404, 500
#: What begins an answer, to a request and to the wish for a websocket.
_STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")
_FRAMES = ("iframe", "frame", "fencedframe", "embed", "object")

# Until `st.navigation` has run once, Streamlit takes the files in `pages/` for an app of its own: the first visitor would see
# their names in the sidebar, and by a link a page without app.py around it. There is no public switch for that.
PagesManager.uses_pages_directory = False


class HostFilter:
    """ASGI middleware that lets through what is addressed to this computer or to `public`, and comes from no other page.

    `public` is the address that a proxy serves, such as "https://trees.example.org", or the one of a class; None for neither.
    """

    def __init__(self, app: ASGIApp, public: str | None) -> None:
        self._app = app
        self._public = public
        self._hosts = _hosts(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or hand on without the origin, which has been checked."""

        async def send_unframed(message: Message) -> None:
            if message["type"] in _STARTS:
                message = {**message, "headers": list(message.get("headers", ()))}
                MutableHeaders(raw=message["headers"]).update(NO_FRAMES)
            await send(message)

        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif self._is_for_us(scope) and _is_from_our_page(scope) and not any(part in scope["path"] for part in CLOSED):
            ours = (b"origin", CHECKED.encode())
            headers = [(name, value) for name, value in scope["headers"] if name not in ours]
            await self._app({**scope, "headers": [*headers, (CHECKED.encode(), b"1")]}, receive, send_unframed)
        else:
            await PlainTextResponse("dpviz answers its own pages on this computer only.", _REFUSED)(scope, receive, send_unframed)

    def _is_for_us(self, scope: Scope) -> bool:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or _hostname(hosts[0]) not in self._hosts:
            return False
        return all(origin in (f"http://{hosts[0]}", f"https://{hosts[0]}", self._public) for origin in _values(scope, b"origin"))


def _is_from_our_page(scope: Scope) -> bool:
    """By what browsers say about a request (W3C Fetch Metadata), where they do: they say nothing at http://192.168.1.20.

    A link on another page may lead here, in a window of its own.
    """
    sites, kinds = _values(scope, b"sec-fetch-site"), _values(scope, b"sec-fetch-dest")
    if any(kind in _FRAMES for kind in kinds):
        return False
    is_link = scope.get("method") == "GET" and _values(scope, b"sec-fetch-mode") == ["navigate"] and kinds == ["document"]
    return is_link or all(site in ("same-origin", "none") for site in sites)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _hostname(host: str) -> str | None:
    """The name in a Host header; None where it is anything but a name and perhaps a port."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - raises when it is no number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _hosts(public: str | None) -> list[str]:
    return [*LOCAL_HOSTS, *([] if public is None else [urlsplit(public).hostname or ""])]


def checked_requests(public: str | None = None) -> dict[str, Any]:
    """What a server of the dashboard has beside Streamlit's own, as arguments of `streamlit.starlette.App`."""
    # takes most of a second, and every page that says what a row risks needs it: done before the first visitor is there
    Thread(target=import_module, args=("dp_accounting.pld.pld_pmf",), daemon=True).start()
    check = Middleware(HostFilter, public=public)  # type: ignore[arg-type]
    return {"middleware": [check], "routes": _documentation(), "exception_handlers": {Exception: _error_response}}


def serve(script: str, public: str | None, config: dict[str, Any]) -> None:
    """Run the pages of `script` until they are stopped; `config` holds options of Streamlit, `public` is as in HostFilter."""
    app = App(script, **checked_requests(public))
    app.run(config={**_from_environment(), "server.allowedHosts": _hosts(public), "client.allowedOrigins": [], **config})


def _documentation() -> list[Mount]:
    """Its pages, behind the same check, or what to do where they were not built. A class sees the lessons alone."""
    if lessons_only():
        return []
    try:
        pages: ASGIApp = StaticFiles(directory=manual().parent, html=True)
    except DpvizError as error:
        pages = PlainTextResponse(str(error), _NOT_FOUND)
    return [Mount(f"/{MANUAL}", pages)]


async def _error_response(request: Request, error: Exception) -> PlainTextResponse:
    """The answer of Starlette's outermost layer, which lies around every middleware: it too may stand in no frame."""
    return PlainTextResponse("This failed because of an error in dpviz's server; its log says where.", _FAILED, headers=NO_FRAMES)


def _from_environment() -> dict[str, Any]:
    """Options of Streamlit that the environment names (STREAMLIT_SERVER_PORT), which only its own command line reads."""
    found = {}
    for section in ("server", "browser", "logger", "global"):
        for name in get_options_for_section(section):
            text = os.environ.get(f"STREAMLIT_{section}_{re.sub(r'(?=[A-Z])', '_', name)}".upper())
            if text is not None:
                found[f"{section}.{name}"] = _typed(text)
    return found


def _typed(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text.lower() if text.lower() in ('true', 'false') else text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
