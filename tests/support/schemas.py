"""Any schema, as Hypothesis draws it."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from dpviz.errors import SchemaError
from dpviz.table.cells import clean
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema


@st.composite
def schemas(draw: st.DrawFn, labels: st.SearchStrategy[str], numbers: st.SearchStrategy[float], *, all_declared: bool) -> Schema:
    """`all_declared`: without what a codebook does not say, such as what was read from the data."""

    def listed(least: int = 0) -> tuple[str, ...]:
        return tuple(draw(st.lists(labels, min_size=least, max_size=4, unique_by=clean)))

    def read(*fields: str) -> tuple[str, ...]:
        return () if all_declared else tuple(draw(st.lists(st.sampled_from(fields), unique=True)))

    def number(name: str, kind: Any = NumericFeature) -> Any:
        low, high = sorted((draw(numbers), draw(numbers)))
        more: dict[str, Any] = {"missing_codes": listed(), "read_from_data": read("kind", "low", "high")}
        if kind is NumericFeature:
            more |= {"unit": draw(st.just("") | labels), "whole": draw(st.booleans())}
            more |= {"missing_as": None if all_declared else draw(st.none() | st.floats(low, high))}
        return kind(name, low, high, **more)

    def date(name: str) -> DateFeature:
        part, order = draw(st.sampled_from(sorted(PARTS))), draw(st.sampled_from(ORDERS))
        since = draw(st.dates()).isoformat() if part == "days" else "1970-01-01"
        return DateFeature(name, 1, 7, part=part, order=order, since=since, missing_codes=listed(), read_from_data=read("part"))

    def categorical(name: str) -> CategoricalFeature:
        categories = listed(1)
        one = st.none() | st.sampled_from(categories)
        groups = tuple((text, draw(st.sampled_from(categories))) for text in listed())
        about: dict[str, Any] = {"missing_codes": listed(), "groups": groups, "read_from_data": read("categories")}
        return CategoricalFeature(name, categories, draw(one), draw(one), **about)

    *names, goal, person = draw(st.lists(labels, min_size=3, max_size=5, unique=True))
    try:
        features = tuple(draw(st.sampled_from([number, date, categorical]))(name) for name in names)
        target = number(goal, NumericTarget) if draw(st.booleans()) else ClassTarget(goal, listed(2), read("classes"))
        more: dict[str, Any] = {"person": draw(st.none() | st.just(person))}
        if not all_declared:
            more |= {
                "decimal": draw(st.sampled_from((None, ".", ","))),
                "source": draw(st.sampled_from(("", "codebook of 2024"))),
            }
            more |= {"n_public": draw(st.none() | st.integers(1, 10**12)), "read_from_data": ("n_public",)}
        return Schema(features, target, **more)
    except SchemaError:  # it contradicts itself
        assume(False)
        raise
