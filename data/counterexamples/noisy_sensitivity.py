"""A sensitivity that is taken at a noisy row count is no bound where the noisy count exceeds the true one.

PrivaTree, corrected version (Vos, Vos, Li, Erkin & Verwer, appendix of December 2024), one node of budget epsilon: half buys
a noisy row count n (two-sided geometric noise, at least 1), the other half permute-and-flip over the candidate splits with
utility 0.5 - Gini and sensitivity 1 - (n / (n + 1))^2 - (1 / (n + 1))^2. One row: all m candidates are equally good. One row
more, of another class, which all candidates but one separate from it: that one is worse by 0.5. Add or remove one row. On two
rows of one class all candidates are equally good too, so a public number of rows does not help: change the class of one. BDPT
(Guan et al. 2020) takes its sensitivity in the same way. Run: python noisy_sensitivity.py
"""

import numpy as np

CANDIDATES = 2
FARTHEST = 40  # noise beyond this many scales has probability below 1e-17


def chance_of_the_worse(epsilon: float) -> float:
    """How likely that candidate is chosen on two rows, the noisy count averaged out.

    Permute-and-flip takes the only worse one of m candidates with probability c / m, c = exp(-(epsilon / 2) * 0.5 / (2 S)).
    """
    decay = np.exp(-epsilon / 2)
    noise = np.arange(-int(FARTHEST * 2 / epsilon), int(FARTHEST * 2 / epsilon) + 1)
    chances = (1 - decay) / (1 + decay) * decay ** np.abs(noise)
    count = np.maximum(1.0, 2 + noise)
    sensitivity = 1 - (count / (count + 1)) ** 2 - (1 / (count + 1)) ** 2
    return float(chances @ np.exp(-(epsilon / 2) * 0.5 / (2 * sensitivity))) / CANDIDATES


if __name__ == "__main__":
    for epsilon in (0.0125, 0.1):
        alone, together = 1 / CANDIDATES, chance_of_the_worse(epsilon)
        print(f"Budget of the node: epsilon {epsilon:g}. Event: the candidate that does not separate the rows is chosen.")
        print(f"One row, or two of one class: probability {alone:.6g}")
        print(f"Two rows, one of each class:  probability {together:.6g}")
        loss = np.log(alone / together)
        print(
            f"Their ratio is exp({loss:.4g}), {loss / epsilon:.3g} times the budget: {'REFUTED' if loss > epsilon else 'within'}."
        )
