"""Trees that each spend all of epsilon on all rows spend it once per tree.

RGV forest (Rana, Gupta & Venkatesh 2015, as compared by Fletcher & Islam 2017): 110 trees, each with epsilon / (depth + 1)
for the noisy class counts of its leaves. Its definition protects the values of a row, not whether the row is there. Where
all rows are equal, the splits tell nothing, and all rows are in one leaf of every tree; trees draw their noise
independently. Add or remove one row. Run: python trees_add_up.py
"""

import numpy as np

TREES, DEPTH = 110, 4


def chance_of_the_other_label(rows: int, epsilon: float) -> float:
    """How likely one leaf with counts (rows, 0) is labelled with the class it has no row of: the larger noisy count."""
    decay, most = np.exp(-epsilon), int(60 / epsilon)
    noise = np.arange(-most, most + 1)
    chances = (1 - decay) / (1 + decay) * decay ** np.abs(noise)
    at_least = np.cumsum(chances[::-1])[::-1]
    first = noise + rows  # the second count must exceed the first
    places = np.clip(first + 1 + most, 0, len(noise))
    return float(chances @ np.append(at_least, 0.0)[places])


if __name__ == "__main__":
    epsilon, rows = 1.0, 20
    part = epsilon / (DEPTH + 1)
    fewer, more = (TREES * np.log10(chance_of_the_other_label(n, part)) for n in (rows, rows + 1))
    loss = (fewer - more) * np.log(10)
    print(f"epsilon {epsilon:g}, {TREES} trees of depth {DEPTH}. Event: in every tree the leaf has the other class for a label.")
    print(f"{rows} rows of one class: probability 10^{fewer:.2f}")
    print(f"{rows + 1} rows of one class: probability 10^{more:.2f}")
    print(f"Their ratio is exp({loss:.4g}); exp({epsilon:g}) is claimed: {'REFUTED' if loss > epsilon else 'within'}.")
