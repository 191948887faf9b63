"""The exponential mechanism scaled by smooth sensitivity is not private: one row multiplies the odds of a label without limit.

Fletcher & Islam 2017 (smooth random forest) and Xin, Yang, Wang & Huang 2019 (DPGDF): the label of a leaf is drawn with
weights exp(epsilon * score / (2 S)), score 1 for the most frequent class and 0 otherwise, S = exp(-epsilon * gap), where gap
is the lead of that class. An addendum of August 2021 by Fletcher & Islam withdraws the rule. Add or remove one row. Run:
python smooth_sensitivity.py
"""

from math import exp, log1p


def log_chance_of_the_rarer_class(gap: int, epsilon: float) -> float:
    """ln of the probability that a leaf with counts (gap, 0) is labelled with the class of which it has no row."""
    lead = epsilon / (2 * exp(-epsilon * gap))
    return -lead - log1p(exp(-lead))


if __name__ == "__main__":
    for epsilon in (0.1, 1.0, 3.0):
        losses = {}
        for gap in range(1, 200):
            fewer, more = (log_chance_of_the_rarer_class(rows, epsilon) for rows in (gap, gap + 1))
            losses[gap] = fewer - more
            if losses[gap] > 1.001 * epsilon:
                break
        print(f"epsilon {epsilon:g}, event: the leaf has the label of the class it has no row of.")
        print(f"{gap:3d} rows of the other class:     probability {exp(fewer):.6g}")
        print(f"{gap + 1:3d} rows of the other class:     probability {exp(more):.6g}")
        print(f"Their ratio is exp({losses[gap]:.4g}); exp({epsilon:g}) is claimed: REFUTED.")
