"""What passes through dpviz takes the way that its rooms have for it."""

from __future__ import annotations

import pytest

from benchmarks.modules import measured


@pytest.mark.slow
def test_a_model_becomes_sql_without_a_picture_and_a_release_without_a_screen() -> None:
    rooms = {name: {module.split("/")[0] for module in modules} for name, modules in measured().items()}
    assert rooms["a model to SQL"] >= {"commands", "results", "io", "models"}
    assert rooms["a release"] >= {"release", "results", "learners", "privacy"}
    assert not any(found & {"figures", "app", "evaluation"} for found in rooms.values())
