"""Regression of the returns of self-play on features, with a ridge penalty, and which weights features share.

Mirrors and turns of a board that the rules declare share weights. Sharing among seats, the size of windows and
phases are chosen by the loss on games that were not fitted to.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.core.playouts import random_game
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import LARGE, AboveEvaluation
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures, turned
from zermelo.agents.learning.tuning.self_play import Choice
from zermelo.envs import Traits
from zermelo.envs.rules.rules_game import RulesGame

_SEAT_WALKS: Final = 10
_WALK_STEPS: Final = 200
_FEWER: Final = 1.03
"""Fewer weights, of both seats in one or of smaller windows, are preferred up to this factor of the loss.

They know more about unusual positions, which searches ask about, and the games to choose by are few.
"""
_ALIKE: Final = 0.9
"""Turns may be chosen under which this share of the moves of the best turn look alike."""
_TEST_SHARE: Final = 0.1
"""Share of the games for the reported loss; another such share chooses settings."""
_RIDGES: Final = (30.0, 150.0, 750.0, 4_000.0)
_STEPS: Final = 150
_LATER_STEPS: Final = 60
"""In later rounds, which begin with the weights of the round before."""
_PILOT_GAMES: Final = 500
"""Games by which weight sharing is chosen."""
_PILOT_STEPS: Final = 40
_PILOT_RIDGE: Final = 150.0
_OUTCOMES: Final = 3
_MIN_PROBABILITY: Final = 1e-6


@dataclass(frozen=True)
class Played:
    """Positions of one game in which a player is to move, their features, and the entries' returns."""

    states: Sequence[Any]
    entries: Entries
    returns: npt.NDArray[np.float64]  # without the rewards before


def with_returns(
    game: Any,
    features: FeatureSet,
    recorded: Sequence[tuple[Any, Choice]],
    final: Sequence[float],
    outcome_share: float,
) -> list[Played]:
    """The positions of a game with features and returns; nothing of none.

    ``outcome_share`` is the weight of the outcome in a return; the rest is the player's value, where it has one.
    """
    if not recorded:
        return []
    states = [position for position, _ in recorded]
    entries, returns = features.entries(game, states), np.empty(len(states))
    for place, ((position, choice), seat) in enumerate(zip(recorded, entries.seats, strict=True)):
        total = final[seat]
        if choice.value is not None:
            own = choice.value if game.to_move(position) == seat else game.traits.constant - choice.value
            total = outcome_share * total + (1.0 - outcome_share) * own
        returns[place] = total - game.utility(position)[seat]
    return [Played(states, entries, returns)]


def patterns_of(features: FeatureSet) -> PatternFeatures | None:
    """The patterns among the features; None if there are none."""
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    return inner if isinstance(inner, PatternFeatures) else None


def _with_patterns(features: FeatureSet, patterns: PatternFeatures) -> FeatureSet:
    return AboveEvaluation(patterns) if isinstance(features, AboveEvaluation) else patterns


def with_symmetries(features: FeatureSet, game: Any, states: Sequence[Any]) -> FeatureSet:
    """The features with weights shared by images of the board, where the rules declare that they play alike."""
    patterns = patterns_of(features)
    if patterns is None or not isinstance(game, RulesGame):
        return features
    turns = {0}
    for symmetry in range(1, game.symmetries):
        images = _boards(patterns, game, [game.rules.symmetric_state(state, symmetry) for state in states])
        boards = _boards(patterns, game, states)
        turns |= {turn for turn in range(8) if np.array_equal(turned(boards, turn), images)}
    return _with_patterns(features, msgspec.structs.replace(patterns, turns=tuple(sorted(turns))))


def _boards(patterns: PatternFeatures, game: Any, states: Sequence[Any], seat: int | None = None) -> Any:
    """The kinds of cells; shape (rows, columns, states)."""
    return patterns.cells(game, states, seat)[:, :-1].T.reshape(patterns.rows, patterns.columns, -1)


def seat_turns(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> tuple[int, ...]:
    """Turns of the second seat's board under which its moves look like the first seat's.

    The loss does not tell: a board seen the wrong way round halves the weights too. So the moves of some random
    games are compared: which cells change, from what to what, wherever they are on the board.
    """
    patterns = patterns_of(features)
    if patterns is None or patterns.seats != 2:
        return ()
    turns = (0, 1) if patterns.rows == 1 else (0, 2, 3)
    seen: dict[int, Counter[bytes]] = {turn: Counter() for turn in (OWN, *turns)}
    for _ in range(_SEAT_WALKS):
        walk = random_game(game, start, generator, _WALK_STEPS)
        for state, child in itertools.pairwise(walk):
            mover = game.to_move(state)
            before, after = np.moveaxis(_boards(patterns, game, [state, child], mover), 2, 0)
            for turn in turns if mover == 1 else (OWN,):
                seen[turn][_change(turned(before, max(turn, 0)), turned(after, max(turn, 0)))] += 1
    known = seen.pop(OWN)
    alike = {turn: sum(count for change, count in of.items() if change in known) for turn, of in seen.items()}
    return tuple(turn for turn in turns if alike[turn] >= _ALIKE * max(alike.values()))


def _change(before: Any, after: Any) -> bytes:
    """The part of the board that changes, before and after."""
    rows, columns = np.nonzero(before != after)
    if not len(rows):
        return b""
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    differ = before[box] != after[box]
    parts = np.where(differ, before[box], -1), np.where(differ, after[box], -1)
    return bytes(str(differ.shape), "ascii") + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


Floats = npt.NDArray[np.float64]


class Fit(NamedTuple):
    """A regression's weights, and its loss on the test positions beside that of always predicting the average."""

    weights: Floats
    loss: float
    average: float


def regress(
    entries: Entries,
    targets: Floats,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    prior: Floats,
    *,
    ridge: float = 10.0,
    logistic: bool = True,
    steps: int = _STEPS,
    start: Floats | None = None,
) -> Fit:
    """A logistic or linear regression by L-BFGS (SciPy's).

    Targets are from 0 to 1 if it is logistic. ``train`` and ``test`` are indices of positions. The penalty
    ``ridge``, in positions, pulls weights towards the prior, at which they begin if no ``start`` is given.
    """
    import scipy.optimize  # where it is used: processes of agents load the modules of this package
    import scipy.sparse

    size = len(prior)
    matrix = scipy.sparse.csr_matrix((entries.values, entries.indices, entries.starts), (len(targets), size))
    rows, goals = matrix[train], targets[train]
    seen = np.unique(rows.indices)  # the others stay at the prior
    rows, center = rows[:, seen], prior[seen]
    columns = rows.T.tocsr()

    def penalty(weights: Floats) -> tuple[float, Floats]:
        predicted = _predictions(rows @ weights, logistic)
        away = weights - center
        loss = _losses(predicted, goals, logistic).sum() + ridge / 2 * float(away @ away)
        slope = predicted - goals if logistic else 2 * (predicted - goals)
        return loss, columns @ slope + ridge * away

    first = center if start is None else start[seen]
    found = scipy.optimize.minimize(penalty, first, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: Floats = prior.copy()
    weights[seen] = found.x
    average = np.full(len(test), goals.mean() if len(goals) else 0.5)
    losses = [
        _losses(predicted, targets[test], logistic)
        for predicted in (_predictions(matrix[test] @ weights, logistic), average)
    ]
    return Fit(weights, *(float(each.mean()) if len(test) else math.nan for each in losses))


def _predictions(sums: Any, logistic: bool) -> Floats:
    predicted: Floats = 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0))) if logistic else np.asarray(sums)
    return predicted


def _losses(predicted: Floats, targets: Floats, logistic: bool) -> Floats:
    if not logistic:
        squares: Floats = (predicted - targets) ** 2
        return squares
    predicted = np.clip(predicted, _MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    losses: Floats = -(targets * np.log(predicted) + (1.0 - targets) * np.log(1.0 - predicted))
    return losses


class Split(NamedTuple):
    """Games to fit to, to choose settings by, and to report the loss of."""

    train: Sequence[Played]
    validation: Sequence[Played]
    test: Sequence[Played]


def split_games(before: Sequence[Played], played: Sequence[Played]) -> Split:
    """Splits the games of the last round; very few games are used twice."""
    share = max(1, int(len(played) * _TEST_SHARE))
    validation = played[share : 2 * share] or played
    return Split([*before, *(played[2 * share :] or played)], validation, played[:share])


def prior_of(features: FeatureSet) -> Floats:
    """Weights before the first fit: the written evaluation counts once, other features nothing."""
    prior = np.zeros(features.size)
    if isinstance(features, AboveEvaluation):
        prior[-1] = 1.0 / LARGE
    return prior


def with_features(features: FeatureSet, game: Any, played: Played) -> Played:
    """The game with other features."""
    return dataclasses.replace(played, entries=features.entries(game, played.states))


def outcome_bounds(traits: Traits, played: Sequence[Played]) -> tuple[float, float]:
    """Bounds of outcomes: declared, else observed where only wins, draws and losses at the end were seen."""
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower) or not traits.terminal_rewards_only or traits.seats != 2:
        return lower, upper
    seen = np.concatenate([game.returns for game in played])
    seen = np.unique(np.concatenate((seen, traits.constant - seen)))
    return (float(seen[0]), float(seen[-1])) if 1 < len(seen) <= _OUTCOMES else (lower, upper)


def best_sharing(features: FeatureSet, loss_of: Callable[[FeatureSet], float], turns: Sequence[int]) -> FeatureSet:
    """The features with the weight sharing, window size and phases that have the lowest loss.

    ``turns`` are those of ``seat_turns``. Features of other kinds are as they were.
    """
    best = patterns_of(features)
    if best is None:
        return features
    lowest, cells = loss_of(features), best.rows * best.columns
    phases = [tuple(cells * part // parts for part in range(1, parts)) for parts in (4, 8) if cells >= parts]
    for name, values, worth in (
        ("second", turns, _FEWER),
        ("longest", (4,), _FEWER),
        ("phases", phases, 1.0),  # by how full the board is
    ):
        tried = [msgspec.structs.replace(best, **{name: value}) for value in values]
        losses = [loss_of(_with_patterns(features, one)) for one in tried]
        if losses and min(losses) < worth * lowest:
            lowest = min(losses)
            best = tried[losses.index(lowest)]
    return _with_patterns(features, best)


def pilot_loss(features: FeatureSet, game: Any, bounds: tuple[float, float], games: Split) -> float:
    """The loss on some of the games, after a short fit to others."""
    train, validation = (
        [with_features(features, game, played) for played in part[:_PILOT_GAMES]] for part in games[:2]
    )
    targets, entries, logistic = _joined(bounds, [*train, *validation])
    first, second = np.split(np.arange(len(targets)), [sum(len(played.returns) for played in train)])
    settings: dict[str, Any] = {"ridge": _PILOT_RIDGE, "logistic": logistic, "steps": _PILOT_STEPS}
    return regress(entries, targets, first, second, prior_of(features), **settings).loss


def _joined(bounds: tuple[float, float], games: Sequence[Played]) -> tuple[Floats, Entries, bool]:
    """Targets and features of all positions, and whether targets are shares of the utility."""
    lower, upper = bounds
    logistic = math.isfinite(upper - lower)
    targets = np.concatenate([game.returns for game in games])
    if logistic:
        targets = np.clip((targets - lower) / (upper - lower), 0.0, 1.0)
    return targets, Entries.joined([game.entries for game in games]), logistic


def fit(
    bounds: tuple[float, float], games: Split, prior: Floats, ridge: float | None, before: FittedEvaluator | None
) -> tuple[Fit, float]:
    """The regression with the given ridge, or the best one on the validation games; and that ridge."""
    targets, entries, logistic = _joined(bounds, [game for part in games for game in part])
    sizes = [sum(len(game.returns) for game in part) for part in games]
    train, validation, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    def fitted(strength: float, among: npt.NDArray[np.int64]) -> Fit:
        steps, start = (_STEPS, None) if before is None else (_LATER_STEPS, before.weights)
        return regress(
            entries, targets, train, among, prior, ridge=strength, logistic=logistic, steps=steps, start=start
        )

    if ridge is None:
        ridge = min(_RIDGES, key=lambda strength: fitted(strength, validation).loss)
    return fitted(ridge, test), ridge
