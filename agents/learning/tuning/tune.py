"""Fits an evaluation of any game to games that it plays against itself.

    tuned = tune("zermelo/Othello-v0", out="othello.json")
    agent = make_agent("alphabeta(depth=4, evaluator='othello.json')")

Where somebody has written an evaluation of the game, a search plays with it, and features correct it; later rounds
play with the corrected one, where that is searched compiled. Else the first round is random, and each later one
plays with the weights of the round before, one move ahead. The target of the regression is the outcome of the
game, mixed with the value that the last weights had for the position.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.core.gate import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.core.playouts import random_game
from zermelo.agents.core.settings import check_number, check_whole
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import AboveEvaluation, feature_set
from zermelo.agents.evaluators.fitted.observed import write_evaluation
from zermelo.agents.learning.tuning.fitting import (
    Played,
    best_sharing,
    fit,
    outcome_bounds,
    pilot_loss,
    prior_of,
    seat_turns,
    split_games,
    with_features,
    with_returns,
    with_symmetries,
)
from zermelo.agents.learning.tuning.self_play import MAX_MOVES, Player, SelfPlay, at_random, searching
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.players.greedy import GreedyAgent
from zermelo.agents.players.minimax import ExpectiminimaxAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Chance, InvalidSettingError, UnsupportedGameError, as_game, make_env
from zermelo.envs.adapters.wrappers import game_name, is_aec
from zermelo.envs.rules import RulesGame

_STARTS: Final = 50
_REMEMBERED: Final = 2
"""Earlier rounds whose positions are fitted to, without the first one, of random games."""
_SAMPLE_GAMES: Final = 20
"""Random games that show the game's observations; of an environment more, until there are enough states."""
_SAMPLE_STATES: Final = 1_000
_DEPTH: Final = 2
"""Depth of the search that plays over rules."""
_NODES: Final = 2_000
"""Node limit of that search over other games."""
_POSITIONS: Final = 100_000
"""Positions recorded in a round, about."""
_OPENING_SHARE: Final = 0.6
"""Random moves end after this share of the length of a random game, at most.

With a few random moves anywhere, Breakthrough's fitted evaluation lost 300 Elo to the written one: it had hardly
seen how bad moves are punished, and a search asks about little else.
"""


@dataclass(frozen=True)
class Round:
    """One round of self-play and fitting, from 1 on; losses are those of a tenth of the games, kept apart."""

    number: int
    games: int
    positions: int
    loss: float  # log loss in nats, or squared error
    average: float  # the loss of always predicting the average


@dataclass(frozen=True)
class Tuned:
    """A fitted evaluation, and the rounds that led to it."""

    evaluator: FittedEvaluator
    rounds: tuple[Round, ...]


def tune(
    env: Any,
    *,
    out: str,
    features: str = "auto",
    games: int = 1_000,
    rounds: int = 4,
    outcome_share: float = 0.7,
    ridge: float | None = None,
    seed: int = 0,
    on_game: Callable[[str, int, int], object] = lambda *_: None,
    on_round: Callable[[Round], object] = lambda _: None,
) -> Tuned:
    """Fits an evaluation and writes it to a file, after each round.

    Args:
        env: A name, an environment, or a function that makes one: of one player, or of two whose rewards have a
            constant sum, with nothing hidden.
        out: The file to write, ending in ``.json``; ``alphabeta(evaluator="file.json")`` reads it.
        features: ``"patterns"`` of small windows of the board, ``"observation"`` for all numbers that players see,
            ``"module:name"`` of a dictionary of functions, or ``"auto"``: patterns where there is a board.
        games: Games of self-play in each round.
        rounds: Times to play and fit.
        outcome_share: Weight of the outcome in the target; the rest is the last evaluation's value.
        ridge: Strength of the penalty on weights, in positions. None chooses one on a tenth of the games.
        seed: Seed of all that is drawn.
        on_game: Called after each game with the name of the round, the number of games played, and of all.
        on_round: Called after each round.

    Raises:
        InvalidSettingError: A setting is wrong, or the file cannot be written.
        UnsupportedGameError: The game is of another kind, or shows nothing that features could be read from.
    """
    _check(out, games=games, rounds=rounds, outcome_share=outcome_share, ridge=ridge)
    live = make_env(env) if isinstance(env, str) else env
    if isinstance(env, type) or (callable(env) and not is_aec(env)):
        live = env()
    name = env if isinstance(env, str) else game_name(live)
    generator = np.random.default_rng(seed)
    starts = []
    for number in range(_STARTS):
        live.reset(seed=seed + number)
        game = as_game(live)
        starts.append(game.snapshot(live))
    traits = game.traits
    require_perfect_information(traits, "tune")
    require_one_or_two_opposed(traits, "tune")
    samples, walks = _some_states(game, starts[0], generator)
    chosen = with_symmetries(feature_set(features, game, samples), game, samples)
    bounds = traits.utility_bounds
    evaluator: FittedEvaluator | None = None
    done: list[Round] = []
    before: list[Played] = []
    for number in range(1, rounds + 1):
        players = _players(game, chosen, evaluator, generator, seed)
        is_random = evaluator is None and not isinstance(chosen, AboveEvaluation)
        opening = 0 if is_random else round(_OPENING_SHARE * len(samples) / walks)
        loop = SelfPlay(game, starts, players, opening, 1 + _POSITIONS // games, generator)
        played: list[Played] = []
        for count in range(1, games + 1):
            played += with_returns(game, chosen, *loop.play(), outcome_share)
            on_game(f"round {number}", count, games)
        if not played:
            raise UnsupportedGameError(f"games of {traits.name} are over before there is anything to learn from")
        if number == 1:
            bounds = outcome_bounds(traits, played)
            turns = seat_turns(chosen, game, starts[0], generator)
            loss_of = functools.partial(pilot_loss, game=game, bounds=bounds, games=split_games(before, played))
            chosen = best_sharing(chosen, loss_of, turns)
            played = [with_features(chosen, game, one) for one in played]
        found, strength = fit(bounds, split_games(before, played), prior_of(chosen), ridge, evaluator)
        evaluator = FittedEvaluator(
            chosen, found.weights, out, None if bounds == traits.utility_bounds else bounds
        )
        write_evaluation(out, evaluator.as_json({"env": name, "games": games, "rounds": number, "seed": seed}))
        positions = sum(len(one.returns) for one in played)
        done.append(Round(number, len(played), positions, found.loss, found.average))
        on_round(done[-1])
        before = before + played
        if isinstance(chosen, AboveEvaluation):
            ridge = strength
        else:
            before = before[-_REMEMBERED * games :] if number > 1 else []
    assert evaluator is not None, "there is a round"
    return Tuned(evaluator, tuple(done))


def _check(out: str, *, games: int, rounds: int, outcome_share: float, ridge: float | None) -> None:
    check_whole("games", games, lower=10)
    check_whole("rounds", rounds, lower=1)
    check_number("outcome_share", outcome_share, lower=0)
    if outcome_share > 1:
        raise InvalidSettingError(f"outcome_share must be at most 1, not {outcome_share}")
    if ridge is not None:
        check_number("ridge", ridge, lower=0, above=True)
    if not out.endswith(".json"):
        raise InvalidSettingError(
            f"the file must end in .json, so that agents know it for an evaluation, not {out!r}"
        )
    if not Path(out).parent.is_dir() or Path(out).is_dir():
        raise InvalidSettingError(
            f"cannot write {out}: there is no folder {Path(out).parent}, or it is one itself"
        )


def _some_states(game: Any, start: Any, generator: np.random.Generator) -> tuple[list[Any], int]:
    found, walks = list[Any](), 0
    while walks < _SAMPLE_GAMES or (
        walks < 10 * _SAMPLE_GAMES and len(found) < _SAMPLE_STATES and not isinstance(game, RulesGame)
    ):
        found += random_game(game, start, generator, MAX_MOVES)
        walks += 1
    return found, walks


def _players(
    game: Any,
    features: Any,
    evaluator: FittedEvaluator | None,
    generator: np.random.Generator,
    seed: int,
) -> Sequence[Player]:
    """The player of a round, and, while there is a written evaluation, the search with it as a partner."""
    if not isinstance(features, AboveEvaluation):
        if evaluator is None and not (game.traits.seats == 2 and game.traits.terminal_rewards_only):
            return [at_random(game, generator)]
        agent: SearchAgent = GreedyAgent(evaluator=evaluator or "rewards", samples=1, seconds=None, seed=seed)
        if evaluator is not None and evaluator.tables(game) is not None:  # which is searched compiled
            agent = AlphaBetaAgent(depth=1, evaluator=evaluator, seed=seed)
        return [searching(game, agent, is_learned=evaluator is not None)]
    opposed = game.traits.chance is Chance.NONE and game.traits.seats == 2
    kind = AlphaBetaAgent if opposed else ExpectiminimaxAgent
    limit: dict[str, Any] = {"depth": _DEPTH} if opposed and isinstance(game, RulesGame) else {"nodes": _NODES}
    written = searching(game, kind(**limit, seed=seed), is_learned=False)
    if evaluator is None or evaluator.tables(game) is None:
        return [written]
    learned = kind(**limit, seed=seed, evaluator=evaluator)
    return [searching(game, learned, is_learned=True), written]
