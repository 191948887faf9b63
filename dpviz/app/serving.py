"""The dashboard's server: Streamlit behind a check of who asks.

Streamlit compares a foreign origin with this computer's own addresses, which it asks the internet for, and takes any host name
of a page. Here a request is refused before Streamlit sees it, unless it names this computer or the one public address that was
given, and comes from no other page.
"""

import os
import re
import tomllib
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.config import get_options_for_section
from streamlit.starlette import App

#: Names of this computer.
HERE = ("localhost", "127.0.0.1", "::1")
_REFUSED = 403
_POLICY_VIOLATION = 1008


class OnlyHere:
    """ASGI middleware that lets through what is addressed to this computer or to `public`, and comes from no other page.

    `public` is the address that a proxy serves, such as "https://trees.example.org", or the one of a class; None for neither.
    """

    def __init__(self, app: ASGIApp, public: str | None) -> None:
        self._app = app
        self._public = public
        self._hosts = _hosts(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or hand on without the origin, which has been checked."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) == 1 and _hostname(hosts[0]) in self._hosts and all(self._is_ours(origin, hosts[0]) for origin in origins):
            headers = [(name, value) for name, value in scope["headers"] if name != b"origin"]
            await self._app({**scope, "headers": headers}, receive, send)
        elif scope["type"] == "websocket":
            await receive()  # the request to connect, which is answered with 403
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await PlainTextResponse("dpviz answers on this computer only.", _REFUSED)(scope, receive, send)

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}", self._public)


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
    return [*HERE, *([] if public is None else [urlsplit(public).hostname or ""])]


def serve(script: str, public: str | None, config: dict[str, Any]) -> None:
    """Run the pages of `script` until they are stopped; `config` holds options of Streamlit, `public` is as in OnlyHere."""
    app = App(script, middleware=[Middleware(OnlyHere, public=public)])  # type: ignore[arg-type]
    app.run(config={**_from_environment(), "server.allowedHosts": _hosts(public), **config})


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
