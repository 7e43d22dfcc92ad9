"""Estimates and intervals of the parameters of choices, finite or not.

The likelihood has no maximum when somebody won every time: parameters then run off to infinity (A. Albert and
J. A. Anderson, 1984, Biometrika 71:1), in directions whose information has faded.

An interval holds all values whose modified root |r*| is at most 1.96: the root of twice the fall of the profile
log-likelihood, corrected for skewness and for the parameters fitted beside, is standard normal to the third order
(O. E. Barndorff-Nielsen, 1986, Biometrika 73:307; A. C. Davison, 1988, JRSS B 50:445). Where the estimate is
infinite, half the probability of results so one-sided counts (mid-p), from r* of half a win less.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from zermelo.evaluation.stats.ratings.choices import Choices, Vector, log_determinant_within
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile
from zermelo.evaluation.stats.ratings.order import Order
from zermelo.evaluation.stats.ratings.profiles import HeldFit, Profiles
from zermelo.evaluation.stats.score_interval import CONFIDENCE

_Z = normal_quantile(CONFIDENCE)
_TOLERANCE = 1e-5
_FADED = 1e-3
"""Information below which parameters run off in a direction: a single choice against it gives about 1."""
_FADED_PART = 1e-5
"""The same as a part of the information of as many choices between equals."""
_FAR = 40.0  # log-ability that is as good as infinite
_NEAR = 0.2  # standard errors around an estimate within which r* is interpolated: both its terms vanish there
_STRAIGHT = 3.0  # change of a contrast up to which the other parameters go nearly straight
_SECANTS = 8  # steps of the secant method: it needs 2 or 3
_CLOSE = 1e-3  # standard errors: a last step, after which a hundredth of that is missing
_AGREEMENT = 0.03  # part of an interval by which r* may differ from the standard error where that is used
_PER_DETERMINANT = 0.13  # part of an interval by which r* changes at its ends with the logarithm of a determinant

FINITE, ABOVE, BELOW, UNDETERMINED = "finite", "plus infinity", "minus infinity", "undetermined"
"""The most likely value of a combination of parameters; undetermined where any is as likely as any other, or where
it may run off to either side."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A combination of parameters, on the natural logarithmic scale.

    Attributes:
        estimate: Most likely value; infinite if every game says so.
        lower, upper: The ends of its interval.
        standard_error: From the curvature of the likelihood; infinite if the estimate is.
        status: ``finite``, ``plus infinity``, ``minus infinity`` or ``undetermined``.
        method: How the interval was found: ``standard error``, ``modified root``, ``one-sided`` for an infinite
            estimate, ``anchor`` for what is zero by definition, or ``none``.
    """

    name: str
    estimate: float
    lower: float
    upper: float
    standard_error: float
    status: str = FINITE
    method: str = "anchor"

    @property
    def elo(self) -> float:
        return self.estimate * ELO_PER_LOG_ABILITY


class ChoiceFit:
    """The most likely parameters ``theta``, what is uncertain about them, and what has no finite answer.

    ``log_likelihood`` is the supremum; ``unseen`` is the number of directions that the choices cannot see;
    ``spread`` is how much results vary, as a part of what the model says (the dispersion of quasi-likelihood).
    """

    def __init__(self, choices: Choices, spread_at: Callable[[Vector], float] | None = None) -> None:
        from scipy.linalg import eigh

        self.choices, self._unseen = choices, choices.null_space()
        self.unseen = self._unseen.shape[1]
        basis = _complement(self._unseen)
        self.theta = choices.maximize(np.zeros(choices.parameters), self._unseen)
        self.log_likelihood = choices.log_likelihood(self.theta)
        self.spread = 1.0 if spread_at is None else spread_at(self.theta)
        sizes, vectors = np.ones(0), np.ones((0, 0))
        if basis.size:
            sizes, vectors = eigh(basis.T @ choices.information(self.theta) @ basis)
        # As many choices between equals give far more there; in a long chain they do not.
        equal = basis @ vectors
        equal = np.einsum("ij,ij->j", equal, choices.information(np.zeros(choices.parameters)) @ equal)
        settled = (sizes > _FADED) | (sizes > _FADED_PART * equal)
        fixed, drifting = basis @ vectors[:, settled], basis @ vectors[:, ~settled]
        self._log_information = float(np.log(sizes[settled]).sum())
        self._covariance: Vector = self.spread * (fixed / sizes[settled] @ fixed.T)
        self.separated = drifting.shape[1] > 0
        self._unknown = np.column_stack([self._unseen, drifting])
        is_whole = basis.size and not self.separated
        self._profiles = Profiles(choices, self._unseen) if is_whole else None

    def is_finite(self, contrast: Vector) -> bool:
        return bool(np.abs(self._unknown.T @ contrast).max(initial=0.0) < _TOLERANCE)

    def status(self, contrast: Vector) -> str:
        """The direction of the most likely value of ``contrast @ parameters``."""
        if self.is_finite(contrast):
            return FINITE
        if np.abs(self._unseen.T @ contrast).max(initial=0.0) > _TOLERANCE:
            return UNDETERMINED
        if self._order is not None and any(free := self._order.directions(contrast)):
            return UNDETERMINED if all(free) else ABOVE if free[0] else BELOW
        far = _FAR + abs(float(contrast @ self.theta))
        rises, falls = (
            self.log_likelihood - self.profile(contrast, end).log_likelihood < 0.1 for end in (far, -far)
        )
        return UNDETERMINED if rises and falls else ABOVE if rises else BELOW

    @functools.cached_property
    def _order(self) -> Order | None:
        """What holds of parameters that run off, if nothing but comparisons of two."""
        return Order.of(self.choices, np.abs(self._unknown).max(axis=1) < _TOLERANCE)

    def profile(self, contrast: Vector, value: float) -> HeldFit:
        """The fit with ``contrast @ parameters`` held at ``value``."""
        norm, start = float(contrast @ contrast), self.theta
        if self.is_finite(contrast):
            change = min(max(value - float(contrast @ start), -_STRAIGHT), _STRAIGHT)
            start = start + self._covariance @ contrast * (change / self._error(contrast) ** 2)
        if self._profiles is not None:
            return self._profiles.fit(contrast, value, start)
        fixed = _orthonormal(np.column_stack([self._unseen, contrast / math.sqrt(norm)]))
        return self._held(contrast, self.choices.maximize(start, fixed, offset=contrast * (value / norm)))

    def _held(self, contrast: Vector, theta: Vector) -> HeldFit:
        if self._profiles is not None:
            return self._profiles.at(contrast, theta)
        fixed = _orthonormal(np.column_stack([self._unknown, contrast / math.sqrt(float(contrast @ contrast))]))
        left = log_determinant_within(self.choices.information(theta), fixed)
        return HeldFit(theta, self.choices.log_likelihood(theta), left)

    def root(self, contrast: Vector, value: float) -> float:
        """r*: by how many standard errors a finite contrast is above ``value``; a standard normal variable."""
        estimate, error = float(contrast @ self.theta), self._error(contrast)
        distance = (estimate - value) / error
        if abs(distance) >= _NEAR:
            return self._root_at(contrast, value, self.profile(contrast, value))
        near = [estimate + side * _NEAR * error for side in (-1.0, 1.0)]
        low, high = (self._root_at(contrast, end, self.profile(contrast, end)) for end in near)
        return (low + high + (low - high) * distance / _NEAR) / 2.0

    def _root_at(self, contrast: Vector, value: float, held: HeldFit) -> float:
        """r* of ``value``, where ``held`` is the fit with it, or near to that."""
        norm, above = math.sqrt(float(contrast @ contrast)), float(contrast @ self.theta) - value
        fall = max(self.log_likelihood - held.log_likelihood, 1e-300)
        root = math.copysign(math.sqrt(2.0 * fall), above)
        wald = math.log(abs(above) / norm) + 0.5 * (self._log_information - held.log_determinant)
        spread = math.sqrt(self.spread)
        return root / spread + (wald - math.log(abs(root))) * spread / root

    def _one_sided_root(self, contrast: Vector, sign: float) -> Callable[[float], float]:
        """By how many standard errors an infinite contrast is above a value, as ``root`` says of finite ones.

        Where nothing else is fitted, the probability of results so one-sided is their likelihood, else that of the
        fit if half a result had gone the other way, where that makes the contrast finite.
        """
        if len(contrast) - self.unseen > 1:
            tilt = contrast * (-0.5 * sign / float(np.abs(contrast).max()))
            fit = ChoiceFit(self.choices.tilted(tilt))
            if fit.is_finite(contrast):
                return functools.partial(fit.root, contrast)

        def by_likelihood(value: float) -> float:
            fall = self.log_likelihood - self.profile(contrast, value).log_likelihood
            return -sign * NormalDist().inv_cdf(min(max(math.exp(-max(fall, 0.0)), 1e-300), 1.0 - 1e-15))

        return by_likelihood

    def estimate(self, contrast: Vector) -> tuple[float, str]:
        """The most likely value of ``contrast @ parameters`` and its status; 0 if it is undetermined."""
        status = self.status(contrast)
        by_status = {ABOVE: math.inf, BELOW: -math.inf, UNDETERMINED: 0.0}
        return by_status.get(status, float(contrast @ self.theta)), status

    def effect(self, contrast: Vector, name: str) -> Effect:
        (estimate, status), error = self.estimate(contrast), self._error(contrast)
        if status == UNDETERMINED:
            error, lower, upper, method = math.inf, -math.inf, math.inf, "none"
        elif status != FINITE:
            sign = math.copysign(1.0, estimate)
            root, error, method = self._one_sided_root(contrast, sign), math.inf, "one-sided"
            end = _crossing(root, sign * NormalDist().inv_cdf(CONFIDENCE), 0.0, 1.0)
            lower, upper = (end, math.inf) if status == ABOVE else (-math.inf, end)
        elif not np.abs(contrast).max() > 0.0:
            estimate = error = lower = upper = 0.0
            method = "anchor"
        else:
            lower, upper, method = estimate - _Z * error, estimate + _Z * error, "standard error"
            if not self._is_normal(contrast):
                root = functools.partial(self.root, contrast)
                ends = (_near_crossing(root, end, estimate - end * error, error) for end in (_Z, -_Z))
                lower, upper = min(next(ends), estimate), max(next(ends), estimate)  # its own r* is not quite 0
                method = "modified root"
        return Effect(
            name=name, estimate=estimate, lower=lower, upper=upper, standard_error=error, status=status,
            method=method,
        )  # fmt: skip

    def superiority(self, contrast: Vector) -> float:
        """The probability that a contrast is positive, found as its interval is; 0.5 where unknown."""
        status, error = self.status(contrast), self._error(contrast)
        if status == UNDETERMINED or (status == FINITE and error == 0.0):
            return 0.5
        if status != FINITE:
            sign = 1.0 if status == ABOVE else -1.0
            other = 0.5 * NormalDist().cdf(-sign * self._one_sided_root(contrast, sign)(0.0))
            return 1.0 - other if status == ABOVE else other
        if self._is_normal(contrast):
            return NormalDist().cdf(float(contrast @ self.theta) / error)
        return NormalDist().cdf(self.root(contrast, 0.0))

    def covariance(self, contrasts: Vector) -> Vector:
        """The covariance of combinations of parameters, the rows, as far as they are finite."""
        return np.asarray(contrasts @ self._covariance @ contrasts.T)

    def _error(self, contrast: Vector) -> float:
        return math.sqrt(max(0.0, float(contrast @ self._covariance @ contrast)))

    def _is_normal(self, contrast: Vector) -> bool:
        """Whether r* agrees with the standard error at both ends of the interval of a finite contrast."""
        error, estimate = self._error(contrast), float(contrast @ self.theta)
        if error == 0.0:
            return True
        step = self._covariance @ contrast / error

        def differs(held: Callable[[Vector, Vector], HeldFit]) -> float:
            """The part of 1.96 by which r* differs from it at the end where it differs more."""
            ends = ((x, held(contrast, self.theta + x * step)) for x in (-_Z, _Z))
            return max(abs(self._root_at(contrast, estimate + x * error, at) / x + 1.0) for x, at in ends)

        if self._duel_variances is not None:
            doubts: list[float] = []
            about = differs(functools.partial(self._nearly_held, doubts=doubts))
            if abs(about - _AGREEMENT) > _PER_DETERMINANT * max(doubts):
                return about < _AGREEMENT
        return differs(self._held) < _AGREEMENT

    @functools.cached_property
    def _duel_variances(self) -> tuple[Vector, Vector] | None:
        """The variance of what decides each duel, with no ``spread``, and the information of each."""
        if self._profiles is None or self.choices.duels is None:
            return None
        (one, other), own = self.choices.duels, self._covariance.diagonal()
        variances = (own[one] + own[other] - 2.0 * self._covariance[one, other]) / self.spread
        return np.asarray(variances), self.choices.duel_information(self.theta)

    def _nearly_held(self, contrast: Vector, theta: Vector, doubts: list[float]) -> HeldFit:
        """``_held`` of duels without a factorisation; adds to ``doubts`` twice what its determinant is wrong by.

        Among many duels, and in a tree, what each adds to the determinant hardly depends on the others. The second
        term of the rest is at most half the sum of squares of relative changes times h (1 - h), h being leverages.
        """
        assert self.choices.duels is not None
        assert self._duel_variances is not None
        (one, other), (variances, information) = self.choices.duels, self._duel_variances
        across = self._covariance @ contrast / self.spread
        both = float(contrast @ across)
        left = variances - (across[one] - across[other]) ** 2 / both
        change = self.choices.duel_information(theta) - information
        leverage = left * information
        doubts.append(float(((change / information) ** 2 * leverage * (1.0 - leverage)).sum()))
        log_determinant = self._log_information + math.log(both / float(contrast @ contrast))
        log_determinant += float(np.log1p(left * change).sum())
        return HeldFit(theta, self.choices.log_likelihood(theta), log_determinant)


def _near_crossing(root: Callable[[float], float], level: float, start: float, size: float) -> float:
    """The value at which a function that falls by about one in ``size`` is ``level``, by the secant method."""
    before, after = start, start + size * (excess := root(start) - level)
    for _ in range(_SECANTS):
        now = root(after) - level
        if now == excess:
            break
        step = now * (after - before) / (excess - now)
        before, after, excess = after, after + step, now
        if abs(step) < _CLOSE * size:
            return after
    return _crossing(root, level, start, size)


def _crossing(root: Callable[[float], float], level: float, start: float, size: float) -> float:
    """The value at which a falling function is ``level``, near ``start``; infinite if it is far away."""
    from scipy.optimize import brentq

    @functools.cache  # by the number; the function is fixed here
    def excess(value: float) -> float:
        return root(value) - level

    before, step = start, size / 4.0 if excess(start) > 0.0 else -size / 4.0
    after = before + step
    while excess(after) * step > 0.0:
        step *= 1.6
        before, after = after, after + step
        if abs(step) > _FAR + 20.0 * size:
            return math.copysign(math.inf, step)
    return float(brentq(excess, before, after, xtol=1e-6 * size, rtol=1e-12))


def _orthonormal(columns: Vector) -> Vector:
    """An orthonormal basis of what columns span, shape (p, rank)."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > _TOLERANCE])


def _complement(columns: Vector) -> Vector:
    """An orthonormal basis of all that is orthogonal to ``columns``, shape (p, p - rank)."""
    if columns.shape[1] == 0:
        return np.eye(len(columns))
    left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    return np.asarray(left[:, int((sizes > _TOLERANCE).sum()) :])
