"""Taking a model away: choose a form, see it, and download it."""

import streamlit as st

from dpviz.app.parts import error
from dpviz.app.widgets import download, on_demand
from dpviz.errors import DpvizError
from dpviz.results.exports import export, form_called, forms
from dpviz.results.json_schema import JSON_SCHEMA
from dpviz.results.verdict import Unit

_MAX_PREVIEW_LENGTH = 6_000
#: Forms whose text says nothing to a reader: the drawing is on the page already, a report is opened in a browser.
_UNSEEN = ("svg", "report")
_exported = st.cache_resource(scope="session", max_entries=24, show_spinner="Writing it …")(export)
_GROUPS = {"data": "", "code": "Code: ", "words": "", "picture": "Drawing: "}


def offer_export(document: str, stem: str, *, key: str, label: str = "Download", unit: Unit | None = None) -> None:
    """The forms a `dpviz-tree/1` document (released values only) can be taken away in, in files whose names begin with `stem`.

    Where two models are offered, `key` tells their widgets apart; `label` is on the button before the form
    ("Download simulation"). `unit`: whom a register says a release protects.
    """

    @st.fragment
    def offer() -> None:
        names = list(forms())
        name = st.selectbox("Export format", names, format_func=_title, key=f"{key}-form", persist_state="session")
        form = form_called(name)
        st.caption(form.about)
        try:
            content = _exported(name, document, unit)
        except DpvizError as problem:
            error(problem)
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = f"{label} ({form.title})"
            download(words, content, f"{stem}{form.suffix}", form.media_type, key=f"{key}-{form.name}")
            if form.name == "json":
                schema = JSON_SCHEMA.read_bytes
                st.download_button("Its JSON Schema", schema, JSON_SCHEMA.name, "application/schema+json", on_click="ignore")
        if form.name in _UNSEEN:
            return
        with on_demand("Preview", icon=":material/visibility:", key=f"{key}-preview") as box:
            if box.open:  # it is coloured by a script of a megabyte
                text = content[:_MAX_PREVIEW_LENGTH]
                st.code(text, language=form.language, height=320)
                if len(content) > len(text):
                    st.caption(f"The first {len(text):,} of {len(content):,} characters.")

    offer()


def _title(name: str) -> str:
    form = form_called(name)
    return f"{_GROUPS[form.group]}{form.title}"
