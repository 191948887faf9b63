"""One browser's side of a Streamlit session, without the browser: a websocket, the widgets' names, the fragments' clocks.

Twenty browsers would need more of a small machine than the server they visit. A visitor sends what a browser sends (an
epsilon that was chosen, a press of a button, the reruns that fragments ask for) and reads every message of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any
from urllib.request import Request, urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

#: Largest message, in bytes: a page comes in many small ones, a path of trees in one.
_LARGEST = 64 * 2**20
_BOUNDARY = "dpviz-load-test"
#: How each kind of widget says its value.
_VALUES = {
    "button": "trigger_value",
    "button_group": "string_array_value",
    "checkbox": "bool_value",
    "number_input": "double_value",
    "radio": "string_value",
    "text_input": "string_value",
}
#: What a visitor waits for in one element of the page.
Wanted = Callable[[Any], bool]


class Visitor:
    """A session on a page of the server at `address` ("localhost:8501")."""

    def __init__(self, address: str, page: str, query: str) -> None:
        self._address, self.page, self.query = address, page, query
        self._session, self._urls = "", list[FileURLs]()
        self._open = ExitStack()
        options: dict[str, Any] = {"origin": f"http://{address}", "subprotocols": ["streamlit"], "max_size": _LARGEST}
        self._line = self._open.enter_context(connect(f"ws://{address}/_stcore/stream", **options))
        self._ids: dict[tuple[str, str], str] = {}
        self._clocks: dict[str, tuple[float, float]] = {}
        self._kept: dict[str, ForwardMsg] = {}
        self.failed = False
        self._is_finished, self._script = False, ""

    def open(self) -> None:
        """Ask for the page."""
        self._rerun()

    def go(self, page: str) -> None:
        """To another page in the same session."""
        self.page, self._script = page, ""
        self._rerun()

    def choose_epsilon(self, epsilon: float) -> None:
        """Let go of the slider at this epsilon."""
        sent = json.dumps([{"event": "epsilon", "value": epsilon}])
        # as `_make_trigger_id` of Streamlit's components names what a view reports
        place = f"$$STREAMLIT_INTERNAL_KEY_{self._ids['bidi_component', 'dpviz_epsilon']}__events"
        self._rerun(WidgetState(id=place, json_trigger_value=sent))

    def press(self, label: str) -> bool:
        """Press the button whose label begins so; False where there is none."""
        found = next((there for (kind, said), there in self._ids.items() if kind == "button" and said.startswith(label)), None)
        if found is not None:
            self._rerun(WidgetState(id=found, trigger_value=True))
        return found is not None

    def offers(self, label: str) -> bool:
        """Whether a widget whose label begins so came with this page or one before."""
        return any(said.startswith(label) for _, said in self._ids)

    def answer(self, *answers: tuple[str, Any]) -> None:
        """Say all of this at once: (how a widget's label begins, its value); True presses a button."""
        self._rerun(*(self._said(label, value) for label, value in answers))

    def upload(self, label: str, name: str, content: bytes, seconds: float) -> None:
        """Choose a file: ask where it goes, send it there, say that it is there. Raises OSError where it is not taken."""
        message, until = BackMsg(), monotonic() + seconds
        message.file_urls_request.request_id, message.file_urls_request.session_id = name, self._session
        message.file_urls_request.file_names.append(name)
        self._urls.clear()
        self._line.send(message.SerializeToString())
        while not self._urls:
            self._read(until - monotonic())
        (urls,) = self._urls
        _put(self._address, urls.upload_url, name, content)
        chosen = self._said(label, None)
        told = chosen.file_uploader_state_value.uploaded_file_info.add(file_id=urls.file_id, name=name, size=len(content))
        told.file_urls.CopyFrom(urls)
        self._rerun(chosen)

    def watch(self, wanted: Wanted, seconds: float) -> float | None:
        """Seconds until an element is `wanted` comes; None when none comes in time. Fragments go on asking meanwhile."""
        start = monotonic()
        while (now := monotonic()) < start + seconds:
            due = min((when for when, _ in self._clocks.values()), default=start + seconds)
            if due <= now:
                self._tick(now)
                continue
            try:
                found = self._read(min(due, start + seconds) - now)
            except TimeoutError:
                continue
            if found is not None and wanted(found):
                return monotonic() - start
        return None

    def finish(self, seconds: float) -> bool:
        """Read the page asked for last to its end; False when it does not end in time."""
        until = monotonic() + seconds
        while not self._is_finished and (now := monotonic()) < until:
            with suppress(TimeoutError):
                self._read(until - now)
        return self._is_finished

    def close(self) -> None:
        """Close the browser's window."""
        self._open.close()

    def lose(self) -> None:
        """The browser is gone without a word."""
        self._line.close_socket()

    def _said(self, label: str, value: Any) -> WidgetState:
        kind, there = next((key[0], there) for key, there in self._ids.items() if key[1].startswith(label))
        if kind not in _VALUES:
            return WidgetState(id=there)
        state = WidgetState(id=there)
        if kind == "button_group":
            state.string_array_value.data.append(value)
        else:
            setattr(state, _VALUES[kind], value)
        return state

    def _read(self, seconds: float) -> Any:
        """The next element that comes, if the next message is one."""
        message = ForwardMsg()
        message.ParseFromString(self._line.recv(timeout=max(0.0, seconds)))  # type: ignore[arg-type]
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            message, kind = self._kept[message.ref_hash], "delta"
        elif message.metadata.cacheable:
            self._kept[message.hash] = message
        self._is_finished |= kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        if kind == "navigation":
            self._script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "file_urls_response":
            self._urls = list(message.file_urls_response.file_urls)
        elif kind == "new_session":
            self._session = message.new_session.initialize.session_id
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self._clocks.clear()
            self._ids = {key: there for key, there in self._ids.items() if key[0] != "button"}  # nobody presses one that went
        elif kind == "auto_rerun":
            every = message.auto_rerun.interval
            self._clocks[message.auto_rerun.fragment_id] = monotonic() + every, every
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._clocks.pop(fragment, None)
        return self._element(message) if kind == "delta" else None

    def _element(self, message: ForwardMsg) -> Any:
        if message.delta.WhichOneof("type") != "new_element":
            return None
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in _VALUES or kind == "file_uploader":
            widget = getattr(element, kind)
            self._ids[kind, widget.label] = widget.id
        elif kind == "bidi_component":
            self._ids[kind, _name(element.bidi_component)] = element.bidi_component.id
        self.failed = self.failed or kind == "exception"
        return element

    def _tick(self, now: float) -> None:
        for fragment, (due, every) in list(self._clocks.items()):
            if due <= now:
                self._clocks[fragment] = now + every, every
                self._rerun(fragment=fragment)

    def _rerun(self, *said: WidgetState, fragment: str = "") -> None:
        self._is_finished = self._is_finished and bool(fragment)
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.fragment_id = self.query, self.page, fragment
        state.is_auto_rerun, state.page_script_hash = bool(fragment), self._script
        state.widget_states.widgets.extend(said)
        self._line.send(message.SerializeToString())


def _name(view: Any) -> str:
    return str(view.component_name.rsplit(".", 1)[-1])


def _put(address: str, place: str, name: str, content: bytes) -> None:
    """Send a file as a form does, with the token that says that this server's own page sends it."""
    with urlopen(f"http://{address}/_stcore/health") as answer:
        cookie = str(answer.headers.get("Set-Cookie", "")).partition(";")[0]
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{_BOUNDARY}--\r\n".encode()
    token = cookie.partition("=")[2].strip('"')
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}", "Cookie": cookie, "X-Xsrftoken": token}
    with urlopen(Request(f"http://{address}/{place.lstrip('/')}", body, headers, method="PUT")):
        pass


def has(kind: str, words: str) -> Wanted:
    """An element of this kind with these words in its label or text, which can be used."""

    def is_it(element: Any) -> bool:
        if element.WhichOneof("type") != kind:
            return False
        shown = getattr(element, kind)
        text = shown.label if kind in _VALUES or kind == "file_uploader" else shown.body
        return words in text and not getattr(shown, "disabled", False)

    return is_it


def tree_at(epsilon: float) -> Wanted:
    """The drawing of the tree at this epsilon. An older one, which is shown while the new one grows, does not count."""

    def is_it(element: Any) -> bool:
        view = element.bidi_component
        if element.WhichOneof("type") != "bidi_component" or _name(view) != "dpviz_tree":
            return False
        data = json.loads(view.mixed.json if view.WhichOneof("data") == "mixed" else view.json)
        return bool(data["epsilon"] == epsilon)

    return is_it
