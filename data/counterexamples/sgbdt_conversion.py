"""S-GBDT's conversion from Renyi loss to (epsilon, delta) is refuted by one row. Python alone; prints both probabilities.

Kirschte et al. 2023 (arXiv 2309.12041), Algorithm 7, line 6, and Theorem 18: exp(rho - alpha epsilon) = delta for the Renyi
divergence rho of order alpha. Right is exp((alpha - 1) (rho - epsilon)) = delta (Abadi et al. 2016, Theorem 2; Mironov 2017).

1. One Gaussian release of a sum that one row moves by 1, with variance V: rho = alpha / (2 V). As printed, delta falls without
   end in alpha as soon as epsilon > 1 / (2 V), so the release would be (epsilon, 0)-DP. It is not: the release exceeds t with
   probability p if the row is there and q if not, and p > e^epsilon q + delta.
2. The paper's setting: 100 rounds, each row drawn with probability .1, delta 5e-8, epsilon .15. The noise that the printed
   conversion asks for is found below; the sum of all releases exceeds t with probabilities that contradict the claim. The
   privacy analysis of the paper assumes no more than that a row may move every drawn round's sum by its whole limit.
"""

import math


def above(t: float, mean: float, deviation: float) -> float:
    """The probability that Gaussian noise around `mean` exceeds t."""
    return math.erfc((t - mean) / deviation / math.sqrt(2)) / 2


def chance_of(k: int, rounds: int, share: float) -> float:
    """The probability that a row is drawn in k of the rounds."""
    return math.comb(rounds, k) * share**k * (1 - share) ** (rounds - k)


def renyi(alpha: int, deviation: float, share: float) -> float:
    """Renyi divergence of one sampled round at a whole order: exact (Mironov, Talwar & Zhang 2019, Section 3.3)."""
    logs = [
        math.lgamma(alpha + 1) - math.lgamma(k + 1) - math.lgamma(alpha - k + 1)
        + k * math.log(share) + (alpha - k) * math.log1p(-share) + k * (k - 1) / (2 * deviation**2)
        for k in range(alpha + 1)
    ]  # fmt: skip
    top = max(logs)
    return (top + math.log(sum(math.exp(log - top) for log in logs))) / (alpha - 1)


def printed_noise(epsilon: float, delta: float, share: float, rounds: int) -> float:
    """The least noise for which some order up to 256 passes the printed conversion."""

    def passes(deviation: float) -> bool:
        return any(rounds * renyi(a, deviation, share) - a * epsilon <= math.log(delta) for a in range(2, 257))

    low, high = 0.1, 100.0
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def say(what: str, p: float, q: float, epsilon: float, delta: float) -> None:
    """Print both probabilities, and whether the claim can hold."""
    bound = math.exp(epsilon) * q + delta
    print(f"{what}: claimed ({epsilon:g}, {delta:g})-DP")
    print(f"  with the row {p:.6f}, without {q:.6f}; allowed with the row: at most {bound:.6f}")
    print(f"  {'REFUTED' if p > bound else 'not refuted'}; needs a delta of at least {p - math.exp(epsilon) * q:.2g}")
    if not p > bound:
        raise SystemExit(1)


def main() -> None:
    """Both counterexamples; exit code 1 if one does not refute."""
    epsilon, delta = 0.5, 5e-8
    deviation = math.sqrt(1 / (2 * epsilon)) * 1.001
    say("One Gaussian release", above(1.0, 1, deviation), above(1.0, 0, deviation), epsilon, delta)

    epsilon, share, rounds = 0.15, 0.1, 100
    deviation = printed_noise(epsilon, delta, share, rounds)
    total = deviation * math.sqrt(rounds)
    t = share * rounds / 2 + epsilon * total**2 / (share * rounds)
    p = sum(chance_of(k, rounds, share) * above(t, k, total) for k in range(rounds + 1))
    print(f"Noise as printed: {deviation:.2f} times a row's largest change")
    say("100 sampled rounds", p, above(t, 0, total), epsilon, delta)


if __name__ == "__main__":
    main()
