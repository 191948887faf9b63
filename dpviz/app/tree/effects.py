"""What each feature does to the answer of a model of many trees, from the model alone."""

import streamlit as st

from dpviz.app.prose import prose
from dpviz.app.widgets import chart, once_of
from dpviz.figures.tree.effects import amount, answer_name, by_size, effect_figure, effect_rows
from dpviz.models.base import Model
from dpviz.models.effects import effects
from dpviz.table.schema import NumericTarget


def effects_screen(model: Model) -> None:
    """The effect of a chosen feature as a chart, and all of them as a table."""
    schema = model.schema
    st.header("What each feature does to the prediction", anchor=False)
    st.caption(prose("tree", "effects"))
    answer = 0
    if not isinstance(schema.target, NumericTarget):
        answer = int(
            st.selectbox("Class", range(len(schema.classes)), 1, format_func=schema.classes.__getitem__, key="effect-class")
        )
    found = once_of(model, "_effects", effects)
    order = [effect.feature for effect in by_size(found, answer)]
    place = st.selectbox("Feature", order, format_func=schema.feature_names.__getitem__, key="effect-feature")
    shown = next(effect for effect in found if effect.feature == place)
    name = schema.feature_names[place]
    words = f"{answer_name(schema, answer)} over {name}: it moves by {amount(schema, shown.size(answer))}."
    chart(effect_figure(schema, shown, answer), words, key="effect")
    alt = "How far each feature moves the prediction, most first."
    st.dataframe(effect_rows(schema, found, answer), hide_index=True, height="content", alt=alt)
