"""Fits the weights of a linear evaluation to games that it plays against itself, one ply ahead.

The target of the regression is the outcome of the game, mixed with the value that the weights of the last round
had.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.playouts import random_game
from zermelo.agents.base.requirements import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.base.settings import check_number, check_whole
from zermelo.agents.baselines import GreedyAgent
from zermelo.agents.evaluators.fitted_linear import OBSERVATION, Features, FittedLinear, Floats, expected
from zermelo.agents.evaluators.network import require_writable
from zermelo.agents.training.networks.self_play import MAX_MOVES, Player, SelfPlayGames, at_random, searching
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.registration.make import make
from zermelo.envs.support.calls import checked_call

_STARTS: Final = 50
_WALKS: Final = 20  # random games that show how long games are
_OPENING_SHARE: Final = 0.6  # random moves end after this share of the length of a random game, at most
_POSITIONS: Final = 100_000  # positions recorded in a round, about
_REMEMBERED: Final = 2  # rounds before this one that are fitted to, without the first, nearly random one
_TEST_SHARE: Final = 0.1  # share of the games, the first ones, that the reported loss is measured on
_MIN_PROBABILITY: Final = 1e-6


@dataclass(frozen=True)
class TuningRound:
    """One round of self-play and fitting, from 1 on; losses are those of a tenth of the games, kept apart."""

    number: int
    games: int
    positions: int
    loss: float  # log loss in nats, or squared error
    average: float  # the loss of always predicting the average


@dataclass(frozen=True)
class Tuned:
    """A fitted evaluation, and the rounds that led to it."""

    evaluator: FittedLinear
    rounds: tuple[TuningRound, ...]


class _Played(NamedTuple):
    """The positions of a game: features, sparse of shape (positions, features), and returns from there on."""

    rows: Any
    returns: Floats


@checked_call
def tune(
    env: Any,
    *,
    out: str,
    features: str = OBSERVATION,
    games: int = 1_000,
    rounds: int = 4,
    outcome_share: float = 0.7,
    ridge: float = 10.0,
    seed: int = 0,
    on_game: Callable[[str, int, int], object] = lambda *_: None,
    on_round: Callable[[TuningRound], object] = lambda _: None,
) -> Tuned:
    """Fits a linear evaluation and writes it to a file, after each round.

    Args:
        env: A name, an environment, or a function that makes one: of one player, or of two whose rewards have a
            constant sum, with nothing hidden.
        out: The file to write, ending in ``.json``; ``alphabeta(evaluator=FILE)`` reads it.
        features: ``"observation"`` for all numbers that the player to move observes, or ``"module:name"`` of a
            ``LinearEvaluator``, a dictionary of functions, or a function of game and state that returns numbers.
        games: Games of self-play in each round.
        rounds: Times to play and fit.
        outcome_share: Weight of the outcome in the target; the rest is the last evaluation's value.
        ridge: Strength of the penalty on weights that differ from written ones or 0, in positions.
        seed: Seed of all that is drawn.
        on_game: Called after each game with the name of the round, the number of games played, and of all.
        on_round: Called after each round.

    Raises:
        InvalidSettingError: A setting is wrong, or the file cannot be written.
        UnsupportedGameError: The game is of another kind, or shows nothing that features could be read from.
    """
    check_whole("games", games, lower=10)
    check_whole("rounds", rounds, lower=1)
    check_number("ridge", ridge, lower=0, above=True)
    check_number("outcome_share", outcome_share, lower=0)
    if outcome_share > 1:
        raise InvalidSettingError(f"outcome_share must be at most 1, not {outcome_share}")
    require_writable(out)
    chosen = Features(features)
    live, game, starts = _starting_states(env, seed)
    generator = np.random.default_rng(seed)
    moves = sum(1 for _ in range(_WALKS) for _ in random_game(game, starts[0], generator, MAX_MOVES))
    opening, bounds = round(_OPENING_SHARE * moves / _WALKS), game.traits.utility_bounds
    written = evaluator = _written(chosen, bounds)
    before, done = list[_Played](), list[TuningRound]()
    for number in range(1, rounds + 1):
        player, until = _player(game, evaluator, generator, seed), 0 if evaluator is None else opening
        loop = SelfPlayGames(game, starts, [player], until, 1 + _POSITIONS // games, generator)
        played = []
        for count in range(1, games + 1):
            recorded, final = loop.play()
            if recorded:
                played.append(_with_returns(game, chosen, recorded, final, outcome_share))
            on_game(f"round {number}", count, games)
        if not played:
            raise UnsupportedGameError(
                f"games of {game.traits.name} are over before there is anything to learn from"
            )
        weights, loss, average = _fit(bounds, before, played, written, ridge)
        evaluator = FittedLinear(chosen, weights, out)
        evaluator.save(out, {"env": game_name(live), "games": games, "rounds": number, "seed": seed})
        done.append(TuningRound(number, len(played), sum(len(one.returns) for one in played), loss, average))
        on_round(done[-1])
        before = [*before, *played][-_REMEMBERED * games :] if number > 1 else []
    assert evaluator is not None, "there is a round"
    return Tuned(evaluator, tuple(done))


def _starting_states(env: Any, seed: int) -> tuple[Any, Any, list[Any]]:
    live = make(env) if isinstance(env, str) else env
    if isinstance(env, type) or not hasattr(live, "reset"):
        live = env()
    starts = []
    for number in range(_STARTS):
        live.reset(seed=seed + number)
        game = as_game(live)
        starts.append(game.snapshot(live))
    require_perfect_information(game.traits, "tune")
    require_one_or_two_opposed(game.traits, "tune")
    return live, game, starts


def _written(features: Features, bounds: tuple[float, float]) -> FittedLinear | None:
    """The evaluation that somebody has written; None of features without weights."""
    if features.weights is None:
        return None
    # In the middle, where most positions are, x / (1 + |x|) rises twice as fast as the logistic function.
    steeper = 2.0 if math.isfinite(bounds[1] - bounds[0]) else 1.0
    return FittedLinear(features, np.append(steeper * features.weights, 0.0))


def _player(game: Any, evaluator: FittedLinear | None, generator: np.random.Generator, seed: int) -> Player:
    if evaluator is None and not (game.traits.seats == 2 and game.traits.terminal_rewards_only):
        return functools.partial(at_random, game, generator)
    agent = GreedyAgent(evaluator=evaluator or "rewards", samples=1, seconds=None, seed=seed)
    return searching(game, agent, is_learned=evaluator is not None)


def _with_returns(
    game: Any, features: Features, recorded: Sequence[Any], final: Sequence[float], outcome_share: float
) -> _Played:
    import scipy.sparse  # where it is used: processes of agents load the modules of this package

    rows, returns = [], np.empty(len(recorded))
    for place, (state, choice) in enumerate(recorded):
        seat, row = features.row(game, state)
        total = final[seat]
        if choice.value is not None:
            own = choice.value if game.to_move(state) == seat else game.traits.constant - choice.value
            total = outcome_share * total + (1.0 - outcome_share) * own
        rows.append(row)
        returns[place] = total - game.utility(state)[seat]
    if len({len(row) for row in rows}) > 1:
        raise InvalidSettingError(f"the features {features.source} must be as many numbers for every state")
    return _Played(scipy.sparse.csr_array(np.array(rows)), returns)


def _fit(
    bounds: tuple[float, float],
    before: Sequence[_Played],
    played: Sequence[_Played],
    written: FittedLinear | None,
    ridge: float,
) -> tuple[Floats, float, float]:
    """The weights, their loss on games kept apart, and that of always predicting the average."""
    tested = max(1, int(len(played) * _TEST_SHARE))
    parts = [*before, *(played[tested:] or played)], played[:tested]
    (rows, targets), test = (_joined(part, bounds) for part in parts)
    prior = np.zeros(rows.shape[1]) if written is None else written.weights
    weights = regress(rows, targets, prior, bounds, ridge)
    mean = regress(np.ones((len(targets), 1)), targets, np.zeros(1), bounds, ridge)
    return weights, loss_of(weights, *test, bounds), loss_of(mean, np.ones((len(test[1]), 1)), test[1], bounds)


def _joined(games: Sequence[_Played], bounds: tuple[float, float]) -> tuple[Any, Floats]:
    import scipy.sparse

    targets = np.concatenate([one.returns for one in games])
    return scipy.sparse.vstack([one.rows for one in games], "csr"), np.clip(targets, *bounds)


def loss_of(weights: Floats, rows: Any, targets: Floats, bounds: tuple[float, float]) -> float:
    """The mean log loss of weighted sums, or their squared error where the utility has no bounds."""
    lower, upper = bounds
    sums = rows @ weights
    if not math.isfinite(upper - lower):
        return float(((sums - targets) ** 2).mean())
    shares = np.clip(expected(sums, (0.0, 1.0)), _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
    goals = (targets - lower) / (upper - lower)
    return float(-(goals * np.log(shares) + (1 - goals) * np.log(1 - shares)).mean())


def regress(rows: Any, targets: Floats, prior: Floats, bounds: tuple[float, float], ridge: float) -> Floats:
    """The weights of a logistic regression (linear without bounds); ``ridge`` pulls them towards the prior."""
    import scipy.optimize

    lower, upper = bounds
    is_logistic = math.isfinite(upper - lower)
    goals = (targets - lower) / (upper - lower) if is_logistic else targets

    def penalty(weights: Floats) -> tuple[float, Floats]:
        away = weights - prior
        loss = loss_of(weights, rows, targets, bounds) * len(targets) + ridge / 2 * float(away @ away)
        slope = expected(rows @ weights, (0.0, 1.0)) - goals if is_logistic else 2 * (rows @ weights - goals)
        return loss, rows.T @ slope + ridge * away

    fit = scipy.optimize.minimize(penalty, prior, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(fit.x)
