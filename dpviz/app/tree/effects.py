"""What each feature does to the answer of a model of many trees, from the model alone."""

import streamlit as st

from dpviz.app.widgets import chart
from dpviz.figures.tree.effects import amount, answer_name, by_size, effect_figure, effect_rows
from dpviz.models.base import Model
from dpviz.models.effects import Effect, effects
from dpviz.table.schema import NumericTarget

_KEPT = "_effects"


def effects_screen(model: Model) -> None:
    """The effect of a chosen feature as a chart, and all of them as a table."""
    schema = model.schema
    st.header("What each feature does to the prediction", anchor=False)
    st.caption(
        "The mean prediction when one feature moves through its declared range and the others are spread evenly over theirs. "
        "From the model alone: no row is read, it costs no ε. Features that go together in real rows are taken apart here."
    )
    answer = 0
    if not isinstance(schema.target, NumericTarget):
        answer = int(
            st.selectbox("Class", range(len(schema.classes)), 1, format_func=schema.classes.__getitem__, key="effect-class")
        )
    found = _effects_of(model)
    order = [effect.feature for effect in by_size(found, answer)]
    place = st.selectbox("Feature", order, format_func=schema.feature_names.__getitem__, key="effect-feature")
    shown = next(effect for effect in found if effect.feature == place)
    name = schema.feature_names[place]
    words = f"{answer_name(schema, answer)} over {name}: it moves by {amount(schema, shown.size(answer))}."
    chart(effect_figure(schema, shown, answer), words, key="effect")
    alt = "How far each feature moves the prediction, most first."
    st.dataframe(effect_rows(schema, found, answer), hide_index=True, height="content", alt=alt)


def _effects_of(model: Model) -> tuple[Effect, ...]:
    """Worked out once per model on screen."""
    kept = st.session_state.get(_KEPT)
    if kept is None or kept[0] is not model:
        kept = st.session_state[_KEPT] = (model, effects(model))
    return kept[1]
