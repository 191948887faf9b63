"""S-GBDT's first score costs more than Theorem 20 says. Python alone; prints both probabilities.

Kirschte et al. 2023 (arXiv 2309.12041), Theorem 20: the mean of labels in -m .. m with Laplace noise of scale m / (n epsilon) has
Renyi divergence log(a / (2a - 1) exp((a - 1) epsilon) + (a - 1) / (2a - 1) exp(-a epsilon)) / (a - 1) at order a. Its proof finds
that one row moves the mean by 2 m / n and then leaves out the 2. n rows with label m against the same and a row with label -m;
event: the score is at least m. Telling only whether the event happened cannot lose more than the score itself (Theorem 12).

Algorithm 6 prints twice that noise, which pays for the 2. But the noise still shrinks when a row is added, because n is the exact
row count: far from the mean the ratio of the two probabilities grows without end. Add or remove one row.
Run: python sgbdt_first_score.py
"""

import math


def stated(order: float, epsilon: float) -> float:
    """Theorem 20."""
    larger = order / (2 * order - 1) * math.exp((order - 1) * epsilon)
    return math.log(larger + (order - 1) / (2 * order - 1) * math.exp(-order * epsilon)) / (order - 1)


def of_event(order: float, p: float, q: float) -> float:
    """Renyi divergence of an event with probability p from the same with probability q."""
    return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def chances(rows: int, epsilon: float, noise: float, beyond: float = 0.0) -> tuple[float, float]:
    """How likely the score is at least m + beyond, without and with the row of label -m. m is 1; scale: noise / (n epsilon)."""
    mean_with = (rows - 1) / (rows + 1)
    without = math.exp(-beyond * rows * epsilon / noise) / 2
    return without, math.exp(-(1 + beyond - mean_with) * (rows + 1) * epsilon / noise) / 2


def main() -> None:
    """Both counterexamples; exit code 1 if one does not refute."""
    rows, epsilon, order = 1000, 0.1, 2.0
    p, q = chances(rows, epsilon, 1.0)
    found, allowed = of_event(order, p, q), stated(order, epsilon)
    print(f"{rows} rows, epsilon {epsilon:g}, the noise of Theorem 20. Event: the score is at least m.")
    print(f"  without the row {p:.6f}, with it {q:.6f}")
    print(f"  divergence at order {order:g}: at least {found:.4f}, stated {allowed:.4f}: {'REFUTED' if found > allowed else '-'}")
    p, q = chances(rows, epsilon, 2.0, beyond=10.0)
    print("The noise of Algorithm 6, without end in the order: epsilon. Event: the score is at least 11 m.")
    print(f"  without the row {p:.3e}, with it {q:.3e}")
    loss = math.log(p / q)
    print(f"  a factor of exp({loss:.3g}), stated exp({epsilon:g}): {'REFUTED' if loss > epsilon else '-'}")
    if not (found > allowed and loss > epsilon):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
