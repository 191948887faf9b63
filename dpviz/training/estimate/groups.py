"""Who pays for the noise: the test counts the categories of one declared feature apart.

Every cell of the test is divided by category: a row is still in one cell and changes one count by one, so the same noise on each
count costs the same epsilon (add/remove one row). There are more cells, each with that noise: intervals are wider.
"""

from dataclasses import replace

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import ParameterError, UnknownName
from dpviz.models.tree import Branch, Node, child_per_category
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema

#: More categories than this leave next to no rows in each.
MOST_GROUPS = 20


def with_groups(plan: BudgetPlan, schema: Schema, groups: str, test: str) -> BudgetPlan:
    """The plan whose part `test` counts `groups` apart; raises ParameterError, and UnknownName for no categorical feature."""
    if isinstance(schema.target, NumericTarget):
        raise ParameterError("fit", "groups", groups, "None for a target that is a number")
    if groups not in groups_of(schema):
        raise UnknownName(f"categorical feature of at most {MOST_GROUPS} categories", groups, groups_of(schema))
    if plan.held_out_part(test) is None:
        raise ParameterError("fit", "groups", groups, "None without a test; test_share says how many rows it gets")
    return replace(plan, held_out=tuple(replace(held, groups=groups * (held.part == test)) for held in plan.held_out))


def groups_of(schema: Schema) -> tuple[str, ...]:
    """The features whose categories can be counted apart."""
    able = (feature for feature in schema.features if isinstance(feature, CategoricalFeature))
    return tuple(feature.name for feature in able if 1 < len(feature.categories) <= MOST_GROUPS)


def names_of(schema: Schema, groups: str) -> tuple[str, ...]:
    """The categories of this feature; one without a name where there are no groups."""
    return schema.features[_place(schema, groups)].categories if groups else ("",)  # type: ignore[union-attr]


def divided(root: Node, schema: Schema, groups: str) -> Node:
    """The tree whose every leaf asks for the category, in their order; the same without groups."""
    if not groups:
        return root
    if isinstance(root, Branch):
        return Branch(root.rule, divided(root.left, schema, groups), divided(root.right, schema, groups))
    return child_per_category(_place(schema, groups), [root] * len(names_of(schema, groups)))


def codes_of(data: EncodedDataset, groups: str) -> np.ndarray:
    """The group of each row, private: int64 of shape (n_rows,)."""
    return data.columns[_place(data.schema, groups)].astype(np.int64) if groups else np.zeros(data.n_rows, dtype=np.int64)


def _place(schema: Schema, groups: str) -> int:
    return schema.feature_names.index(groups)
