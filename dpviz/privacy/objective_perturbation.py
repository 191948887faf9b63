"""Objective perturbation: logistic regression with a random linear term in its objective.

The released weights minimise  sum_i ln(1 + exp(-y_i f.x_i)) + penalty/2 |f|^2 + b.f  with |x_i| <= 1 and a random b of density
proportional to exp(-beta |b|).

**Adding one row (x, y).** For the same minimiser f, the two data sets need b and b' that differ by the gradient of one loss,
which is at most 1 long: a factor exp(beta). The map from f to b has the Jacobian A = penalty I + a sum of rank-one terms; the new
row adds one of trace at most c = 1/4, so det(A + E)/det(A) lies in [1, 1 + c/penalty]. Together

    epsilon = beta + ln(1 + c / penalty).

The paper *replaces* a row: gradients then differ by 2 (beta = epsilon'/2), and two rank-one terms change (2c/(n Lambda) +
c^2/(n^2 Lambda^2)). Its n Lambda is `penalty` here, a public number; the true number of rows is never used.

Source: Chaudhuri, Monteleoni & Sarwate 2011, Algorithm 2 and Theorem 9; the constants for add/remove are derived above.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import PureDP, Step
from dpviz.errors import ParameterError, no_exact_sampler
from dpviz.privacy.sensitivity import check_epsilon
from dpviz.privacy.source import NoiseSource, Output, record_sampler
from dpviz.table.validation import is_number

#: Largest second derivative of ln(1 + exp(-z)).
CURVATURE = 0.25
#: Size of the gradient at which the minimiser stops, per row and unit of noise.
TOLERANCE = 1e-10
#: Newton steps at the end; near the minimum each doubles the number of correct digits.
LAST_STEPS = 10

#: (x of shape (n_rows, n_weights) with rows of length at most 1, y in {-1, 1} of shape (n_rows,)). Private.
SignedRows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation:
    """Weights of a private logistic regression.

    Utility: epsilon -> infinity gives the minimiser without noise, epsilon -> 0 a random direction.
    """

    epsilon: float
    #: Weight of |f|^2 / 2 against the *sum* of losses (n Lambda in the paper). Raised where epsilon requires it.
    penalty: float
    title: ClassVar[str] = "objective perturbation"

    def __post_init__(self) -> None:
        check_epsilon("ObjectivePerturbation", self.epsilon, positive=True)
        if not is_number(self.penalty) or self.penalty <= 0:
            raise ParameterError("ObjectivePerturbation", "penalty", self.penalty, "positive and finite")

    @property
    def beta(self) -> float:
        """Rate of the noise: what curvature leaves of epsilon, but at least half of it."""
        left = self.epsilon - math.log1p(CURVATURE / self.penalty)
        return left if left > 0 else self.epsilon / 2

    @property
    def penalty_used(self) -> float:
        """The penalty, raised to c / (exp(epsilon/2) - 1) where curvature would use up epsilon."""
        if self.epsilon > math.log1p(CURVATURE / self.penalty):
            return self.penalty
        return CURVATURE / math.expm1(self.epsilon / 2)

    def release(self, rows: SignedRows, *, source: NoiseSource, part: str, level: int | None = None) -> Output[np.ndarray]:
        """Weights, float64 of shape (n_weights,)."""
        return Output(source.draw(self, rows), record_sampler(source, Step(PureDP(self.epsilon), part, level, self.title)))

    def sample(self, rows: SignedRows, rng: np.random.Generator) -> np.ndarray:
        """Draw b, then minimise."""
        x, y = rows
        direction = np.asarray(rng.standard_normal(x.shape[1]))
        noise = direction * (rng.gamma(x.shape[1], 1 / self.beta) / np.linalg.norm(direction))
        return minimiser(x, y, self.penalty_used, noise)

    def sample_exactly(self, rows: SignedRows) -> np.ndarray:
        """Always raises RefusedRelease: the guarantee holds for the exact minimiser, which floating point only approximates."""
        raise no_exact_sampler(self.title)


def minimiser(x: np.ndarray, y: np.ndarray, penalty: float, linear: np.ndarray) -> np.ndarray:
    """The f that minimises sum ln(1 + exp(-y f.x)) + penalty/2 |f|^2 + linear.f, by Newton steps in a trust region.

    The trust region stops where rounding hides whether the value still falls, well before the gradient is as small as `TOLERANCE`
    asks; the plain Newton steps that follow look at the gradient alone. One thread: sums are rounded by how many
    threads share them.
    """
    from scipy.optimize import minimize
    from scipy.special import expit
    from threadpoolctl import threadpool_limits

    signed = x * y[:, None]

    def value(f: np.ndarray) -> float:
        return float(np.logaddexp(0, -signed @ f).sum() + penalty / 2 * f @ f + linear @ f)

    def gradient(f: np.ndarray) -> np.ndarray:
        return penalty * f + linear - expit(-signed @ f) @ signed

    def hessian(f: np.ndarray) -> np.ndarray:
        chance = expit(signed @ f)
        return (x.T * (chance * (1 - chance))) @ x + penalty * np.eye(x.shape[1])

    enough = TOLERANCE * (len(y) + float(np.linalg.norm(linear)) + penalty)
    options = {"gtol": enough, "maxiter": 500, "max_trust_radius": 1e9}
    with threadpool_limits(1, user_api="blas"):
        start = -linear / (penalty + len(y))
        f = minimize(value, start, jac=gradient, hess=hessian, method="trust-exact", options=options).x
        for _ in range(LAST_STEPS):
            slope = gradient(f)
            if np.linalg.norm(slope) <= enough:
                break
            f = f - np.linalg.solve(hessian(f), slope)
    return f
