"""When A beats B beats C beats A, no line of ratings is true; what to say then.

``find_cycles`` lists such cycles among results that are each significant. ``nash_average`` is the evaluation of D.
Balduzzi, K. Tuyls, J. Perolat and T. Graepel, "Re-evaluating evaluation" (2018, arXiv:1806.02643, section 4.1):
players choose agents in the game whose payoff is the logit of the win rate; of its equilibria the one of greatest
entropy is unique, and an agent's Nash average is its payoff against it. Copies of an agent, or of its victims,
change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.stats.ratings.counts import GameCounts
from zermelo.evaluation.stats.ratings.elo import elo
from zermelo.evaluation.stats.ratings.scales import ELO_PER_LOG_ABILITY, check_confidence, normal_quantile, plain

__all__ = ["NashAverage", "find_cycles", "logit_matrix", "nash_average"]

_MOST_CYCLES = 100


@dataclass(frozen=True, kw_only=True)
class NashAverage:
    """The equilibrium of greatest entropy and what each agent scores against it.

    Attributes:
        shares: Of each agent the probability with which the equilibrium chooses it.
        ratings: Of each agent its mean payoff against the equilibrium, in Elo (400 / ln 10 times the logit): 0 for
            every agent in the equilibrium, at most 0 for the others.
    """

    shares: Mapping[str, float]
    ratings: Mapping[str, float]

    @property
    def mix(self) -> str:
        """The shares in words, the greatest first."""
        shares = sorted(self.shares.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares if share >= 0.005)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return dict(plain(self))


def logit_matrix(counts: GameCounts, players: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
    """The antisymmetric matrix of log odds of the scores, row against column.

    Half a win each way is added to every pairing, so that entries are finite; pairs that never met have 0.

    Args:
        counts: The games.
        players: The order of rows and columns; sorted names if None.
    """
    names = counts.players if players is None else tuple(players)
    column = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for (a, b), (wins, draws, losses) in counts.head_to_head().items():
        if a < b and a in column and b in column:
            odds = math.log((wins + draws / 2.0 + 0.5) / (losses + draws / 2.0 + 0.5))
            matrix[column[a], column[b]] = odds
            matrix[column[b], column[a]] = -odds
    return matrix


def nash_average(matrix: npt.ArrayLike, players: Sequence[str]) -> NashAverage:
    """The Nash average of an antisymmetric payoff matrix.

    Args:
        matrix: Shape (n, n), the row's payoff against the column, in logits (``logit_matrix``).
        players: The n names.

    Raises:
        InvalidSettingError: The matrix is not square, not of the size of ``players``, not finite or not
            antisymmetric.
    """
    from scipy.optimize import linprog, minimize

    payoff = np.asarray(matrix, float)
    n = len(players)
    if payoff.shape != (n, n) or n == 0:
        raise InvalidSettingError(
            f"the payoff matrix must have a row and a column for each of the {n} players (at least one), "
            f"not shape {payoff.shape}"
        )
    if not np.isfinite(payoff).all() or not np.allclose(payoff, -payoff.T, atol=1e-9):
        raise InvalidSettingError(
            "the payoff matrix must be finite and antisymmetric (what one wins the other loses): use logit_matrix"
        )
    scale = max(1.0, float(np.abs(payoff).max()))
    payoff = (payoff - payoff.T) / 2.0 / scale
    # Who can be in an equilibrium at all: the cone of p >= 0 with payoff @ p <= 0, as many positive as possible.
    answer = linprog(
        np.concatenate([np.zeros(n), -np.ones(n)]),
        A_ub=np.block([[payoff, np.zeros((n, n))], [-np.eye(n), np.eye(n)]]),
        b_ub=np.zeros(2 * n),
        bounds=[(0.0, None)] * n + [(0.0, 1.0)] * n,
        method="highs",
    )
    support = np.flatnonzero(np.asarray(answer.x)[n:] > 0.5)
    # The dual of maximal entropy: p is proportional to exp(-multipliers @ payoff) with multipliers >= 0.
    columns = payoff[:, support]

    def dual(multipliers: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        exponent = -(multipliers @ columns)
        top = exponent.max()
        weights = np.exp(exponent - top)
        total = weights.sum()
        return float(top + math.log(total)), -(columns @ (weights / total))

    found = minimize(
        dual,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * n,
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20000, "maxfun": 40000},
    )
    exponent = -(found.x @ columns)
    shares = np.zeros(n)
    shares[support] = np.exp(exponent - exponent.max())
    shares /= shares.sum()
    ratings = payoff @ shares * scale * ELO_PER_LOG_ABILITY
    # What is left of the solver's error must not look like a rating.
    ratings[support] = 0.0
    ratings = np.minimum(ratings, 0.0)
    return NashAverage(
        shares=dict(zip(players, (float(x) for x in shares), strict=True)),
        ratings=dict(zip(players, (float(x) for x in ratings), strict=True)),
    )


def find_cycles(counts: GameCounts, *, confidence: float = 0.95) -> tuple[tuple[str, ...], ...]:
    """Cycles of agents each of which significantly beats the next, and the last the first.

    A beats B significantly if the interval of their Elo difference (``elo``) leaves out zero. All cycles of three
    are listed, at most 100; agents that are in a cycle but in none of three are shown in a shortest one.

    Args:
        counts: The games.
        confidence: Of each pair's interval, or higher where there are so many agents that chance alone would make
            cycles of three: no more than (1 - confidence) / 2 of them are to be expected among equals.

    Returns:
        Cycles, each beginning with its first name in sorted order, sorted.

    Raises:
        InvalidSettingError: ``confidence`` is not strictly between 0 and 1.
    """
    triples = 2 * math.comb(len(counts.players), 3) or 1  # each goes round in two ways
    by_chance = (1 - check_confidence(confidence)) / 2
    confidence = 1 - min(2 * by_chance, 2 * (by_chance / triples) ** (1 / 3))
    least = normal_quantile(confidence) ** 2 / 4.0
    beats: dict[str, list[str]] = {name: [] for name in counts.players}
    for (a, b), (wins, draws, losses) in sorted(counts.head_to_head().items()):
        # The log-likelihood ratio of the decisive games, far cheaper than the interval, rules most pairs out.
        decisive = wins + losses
        ratio = sum(n * math.log(2.0 * n / decisive) for n in (wins, losses) if n)
        if wins > losses and ratio > least and elo(wins, draws, losses, confidence=confidence).lower > 0.0:
            beats[a].append(b)
    cycles: set[tuple[str, ...]] = set()
    for a in beats:
        for b in beats[a]:
            for c in beats[b]:
                if a in beats[c] and a < b and a < c and len(cycles) < _MOST_CYCLES:
                    cycles.add((a, b, c))
    covered = {name for cycle in cycles for name in cycle}
    for a in beats:
        if a not in covered and (cycle := _shortest_cycle(a, beats)) is not None and len(cycles) < _MOST_CYCLES:
            covered.update(cycle)
            first = cycle.index(min(cycle))
            cycles.add(cycle[first:] + cycle[:first])
    return tuple(sorted(cycles))


def _shortest_cycle(start: str, beats: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """A shortest way along ``beats`` from ``start`` back to it, by breadth first; None if there is none."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while paths:
        longer = []
        for path in paths:
            for other in beats[path[-1]]:
                if other == start:
                    return path
                if other not in seen:
                    seen.add(other)
                    longer.append((*path, other))
        paths = longer
    return None
