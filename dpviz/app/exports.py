"""Taking a model away: choose a form, see it, and download it once it has predicted every golden row as the model does."""

from pathlib import Path

import streamlit as st

from dpviz.app.component import CANVAS, component
from dpviz.app.parts import error, plain
from dpviz.app.widgets import download, on_demand
from dpviz.errors import DpvizError
from dpviz.figures.publish.exports import export_as, targets
from dpviz.io.exports.contract import Exportable, Exported
from dpviz.models.document import JSON_SCHEMA

_LONGEST_PREVIEW = 6_000
#: Forms whose text says nothing to a reader: the drawing is on the page already, a report is opened in a browser.
_UNSEEN = ("svg", "report")
_PNG = '<button type="button">Download PNG</button><p role="status"></p>'
_GROUPS = {"data": "", "code": "Code: ", "words": "", "picture": "Drawing: "}


def offer_export(document: str, stem: str, *, key: str, label: str = "Download") -> None:
    """The forms a `dpviz-tree/1` document (released values only) can be taken away in, in files whose names begin with `stem`.

    Where two models are offered, `key` tells their widgets apart; `label` is on the button before the form
    ("Download simulation").
    """

    @st.fragment
    def offer() -> None:
        names = list(targets())
        name = st.selectbox("Export format", names, format_func=_title, key=f"{key}-form", persist_state="session")
        target = targets()[name]
        st.caption(target.about)
        try:
            done = _checked(name, document)
        except DpvizError as problem:
            error(problem)
            return
        _offer(done, document, stem, key, label)

    offer()


def _title(name: str) -> str:
    target = targets()[name]
    return f"{_GROUPS[target.group]}{target.title}"


@st.cache_resource(scope="session", max_entries=24, show_spinner="Checking it on golden rows …")
def _checked(name: str, document: str) -> Exported:
    return export_as(name, Exportable(document))


def _offer(done: Exported, document: str, stem: str, key: str, label: str) -> None:
    target = done.target
    st.caption(f":material/task_alt: {plain(done.checked)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name = f"{label} ({target.title})"
        download(name, done.content, f"{stem}{target.suffix}", target.mime, key=f"{key}-{target.name}")
        if target.name == "svg":
            png_button(str(done.content), f"{stem}.png", key=f"{key}-png")
        if target.name == "json":
            schema = JSON_SCHEMA.read_bytes
            st.download_button("Its JSON Schema", schema, JSON_SCHEMA.name, "application/schema+json", on_click="ignore")
    _preview(done, key)


def _preview(done: Exported, key: str) -> None:
    if isinstance(done.content, bytes) or done.target.name in _UNSEEN:
        return
    with on_demand("Preview", icon=":material/visibility:", key=f"{key}-preview") as box:
        if not box.open:  # it is coloured by a script of a megabyte
            return
        text = done.content[:_LONGEST_PREVIEW]
        st.code(text, language=done.target.language, height=320)
        if len(done.content) > len(text):
            st.caption(f"The first {len(text):,} of {len(done.content):,} characters.")


def png_button(svg: str, file_name: str, *, key: str) -> None:
    """Offer `svg` (complete, escaped) as a PNG of twice its size on a white ground, drawn in the browser by `export_png.js`."""
    show = component("dpviz_png", CANVAS, Path(__file__).with_name("export_png"), html=_PNG)
    show(key=key, data={"svg": svg, "name": file_name}, width="content")
