"""Where a learner differs from its source, as its own file declares it. Pages, screens and the command line show these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """One difference between a learner and its source.

    Attributes
    ----------
    paper, here : str
        What the source does (or what was measured there), and what this learner does: one sentence each.
    why : str
        The reason, in one sentence.
    """

    paper: str
    here: str
    why: str
