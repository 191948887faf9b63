"""What stands above a tree in one line each: what is guaranteed, and what is measured."""

from dpviz.figures.wording import capital
from dpviz.results.verdict import Verdict, loss_text, times_text

#: While epsilon is dragged to where no tree has been trained yet.
PENDING = "ε = {}: let go to train this tree."


def guarantee_said(said: Verdict) -> dict[str, str]:
    """Kind and words: "Preview: ε = 1 (add/remove one row). At most 61 of 100 guesses about one row can be right, ..."."""
    if said.kind == "would":
        words = f"Preview: {loss_text(said.proven, said.unit)}"
    else:
        words = said.headline
    if said.proven.is_finite:
        times = times_text(said.right_guesses)
        most = f"At most {times}" if times.isdigit() else capital(times)
        words += f". {most} of 100 guesses about {said.unit.words} can be right, 50 by chance"
    return {"kind": said.kind, "words": f"{words}."}
