"""The export section: every form is offered, and a form that cannot hold the model says why."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.results.exports import forms
from tests.support.exports_models import exportable, schema_with_stand_ins
from tests.support.paths import SOON


def offered(document: str) -> AppTest:
    def page() -> None:
        import streamlit as st

        from dpviz.app.exports import offer_export

        offer_export(st.session_state["document"], "tree", key="here")

    test = AppTest.from_function(page, default_timeout=SOON)
    test.session_state["document"] = document
    return test.run()


def said(test: AppTest) -> str:
    assert not test.exception, [found.message for found in test.exception]
    return "\n".join(element.value for kind in (test.caption, test.error) for element in kind)


@pytest.mark.slow
def test_every_form_can_be_chosen():
    test = offered(exportable("pf-tree", schema_with_stand_ins()).text)
    box = test.selectbox(key="here-form")
    assert len(box.options) == len(forms())
    for name in forms():
        test.selectbox(key="here-form").select(name).run()
        assert forms()[name].about in said(test).replace("\\", "")
        labels = [button.label for button in test.get("download_button")]
        assert f"Download ({forms()[name].title})" in labels


def test_a_form_that_cannot_hold_the_model_says_why_and_offers_nothing():
    test = offered(exportable("jpw-forest", schema_with_stand_ins()).text)
    test.selectbox(key="here-form").select("svg").run()
    assert "shows a single tree; this model has many" in said(test).replace("\\", "")
    assert not test.get("download_button")


def test_a_damaged_document_is_an_error_box_and_no_crash():
    document = json.loads(exportable("majority", schema_with_stand_ins()).text)
    del document["leaf"]
    test = offered(json.dumps(document))
    assert "This entry is missing" in said(test)
    assert not test.get("download_button")
