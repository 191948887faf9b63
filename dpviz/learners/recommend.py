"""Which learner to take: a rule by what is declared alone, so that it reads no row and costs no epsilon.

**The rule.** More than two classes: pf-tree. Otherwise s-gbdt from 10 rows times epsilon per feature on, and pf-tree below.

**Where it comes from.** `data/benchmarks/which_learner.csv`: 30 cells of AUC and accuracy (10 tables, 3 epsilons, of
`docs/evidence/rivals.md`), where a learner leads by the mean of both. The tables were split in halves by size, and
the threshold with the least lost on one half was used on the other: 8.3 hits 14 of 15 cells there, 17.0 hits 13 of 15. The
rounded 10 hits 28 of all 30. Rows times epsilon alone hit as many, 13 and 14, and lose more where they miss. For numbers the
rule hits 7 of 8 cells (2 tables). A constant is never recommended: pf-tree is behind the
majority class in no cell of `docs/evidence/tables.md`, down to 2 rows times epsilon.
"""

import math
from dataclasses import dataclass

from dpviz.learners.catalogue import DEFAULT, DEFAULT_OF_NUMBERS, get_learner
from dpviz.table.schema import NumericTarget, Schema
from dpviz.table.validation import validate_number
from dpviz.training.contract import n_public_of

#: Rows times epsilon per feature from which s-gbdt is recommended.
FROM = 10.0


@dataclass(frozen=True)
class MeasuredAdvantage:
    """By how much the recommended learner leads in stored cells, on average, and in how many it does."""

    measures: tuple[tuple[str, float], ...]
    ahead: int
    cells: int

    def behind(self, title: str) -> str:
        """What the other learner loses, one sentence."""
        lost = " and ".join(f"{by:.3f} in {measure}" for measure, by in self.measures)
        return f"{title} is behind by {lost} on average, and in {self.ahead} of {self.cells} comparisons on benchmark tables."


#: Of s-gbdt, classes and numbers; of pf-tree. From the stored cells.
CLASSES, NUMBERS = MeasuredAdvantage((("AUC", 0.060), ("accuracy", 0.004)), 25, 26), MeasuredAdvantage((("R²", 0.030),), 7, 8)
FEW = MeasuredAdvantage((("AUC", 0.032), ("accuracy", 0.167)), 3, 4)


@dataclass(frozen=True)
class Recommended:
    """A learner with the reason, and what another one would lose."""

    learner: str  #: As in `dpviz.fit`
    reason: str  #: One sentence
    lost: str  #: One sentence, with numbers where there are stored ones


def which_learner(schema: Schema, *, epsilon: float) -> Recommended:
    """The learner to take, from declared rows, number of features, epsilon and target. Reads no row.

    `s-gbdt` from 10 rows times epsilon per feature on, for two classes and for numbers; else `pf-tree`. Derived on one half of
    ten stored tables, the rule names the better one in 14 of 15 cells of the other half (13 of 15 the other way round). S-GBDT
    holds many small trees and needs a delta: who wants one tree to read, or no delta, takes `pf-tree` and loses what `lost` says.

    Parameters
    ----------
    schema : Schema
        With `n_public`, the declared number of rows.
    epsilon : float
        Privacy loss of a person; see `Schema.rows_per_person`.

    Returns
    -------
    Recommended
        With `learner`, `reason` and `lost`.

    Raises
    ------
    SchemaError
        No number of rows is declared.
    ParameterError
        Epsilon is not a finite number above 0.
    """
    allowed = "a finite number above 0"
    epsilon = validate_number("which_learner", "epsilon", epsilon, low=0, high=math.inf, exclusive=True, allowed=allowed)
    one, many = get_learner(DEFAULT), get_learner(DEFAULT_OF_NUMBERS)
    is_number_target = isinstance(schema.target, NumericTarget)
    if not is_number_target and len(schema.classes) > 2:
        return Recommended(one.name, "There are more than two classes.", f"What {many.title} would lose is not measured.")
    n_public = n_public_of(schema, "which_learner", "choose without it")
    per_feature = n_public * epsilon / schema.rows_per_person / len(schema.features)
    number = f"{per_feature:,.0f}" if per_feature >= 100 else f"{per_feature:.3g}"
    said = f"There are {number} rows times epsilon per feature"
    if per_feature < FROM:
        return Recommended(one.name, f"{said}: below {FROM:g}, one tree loses less to noise.", FEW.behind(many.title))
    lead = NUMBERS if is_number_target else CLASSES
    return Recommended(many.name, f"{said}: from {FROM:g} on, many small trees predict better.", lead.behind(one.title))
