"""Words of the field, explained where a page uses them first: dotted, with a tooltip, and listed below the page."""

from pathlib import Path

from dpviz.app.component import component
from dpviz.app.prose import sections


def explain_words() -> None:
    """Mark the first of each term on the page, whatever part of the page has it."""
    entries = [{"forms": heading.split(", "), "said": " ".join(said.split())} for heading, said in sections("glossary").items()]
    component("dpviz_glossary", Path(__file__))(key="glossary", data={"entries": entries})
