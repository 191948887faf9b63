"""Widgets that every page uses in the same way."""

import pytest
from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize("is_opened", [False, True])
def test_the_table_of_a_chart_is_made_when_its_box_is_opened(is_opened: bool) -> None:
    def page() -> None:
        import pandas as pd

        from dpviz.app.widgets import table

        table(pd.DataFrame({"epsilon": [0.1, 1.0]}), "Every point.", key="points")

    test = AppTest.from_function(page)
    test.session_state["table points"] = is_opened
    test.run()
    assert not test.exception
    assert [box.label for box in test.expander] == ["As a table"]
    assert len(test.dataframe) == is_opened
