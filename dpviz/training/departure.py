"""Where a learner differs from its source, as its own file declares it. Pages, screens and the command line show these."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """One difference between a learner and its source."""

    #: paper, here: what the source does (or what was measured there), and what this learner does: one sentence each.
    paper: str
    here: str
    why: str  #: The reason, in one sentence


#: Of PrivaTree in all its forms.
PUBLIC_BOUNDS = Departure(
    "Assumes that ranges, categories, classes and the row count are public; its experiments read them from the data.",
    "They are declared in the schema; the benchmark pages read them from the data too, and say so.",
    "A range or count read from the rows is a disclosure that no epsilon covers.",
)
#: Of forests on disjoint rows.
OWN_COINS = Departure(
    "Rows are divided into one disjoint subset per tree, by sampling without replacement.",
    "Every row draws its tree by itself.",
    "One more row must move no other row, or parallel composition does not apply.",
)
