"""Fits an evaluation of any game to games that it plays against itself.

    tuned = tune("zermelo/Othello-v0", out="othello.json")
    agent = make_agent("alphabeta(depth=4, evaluator='othello.json')")

Where somebody has written an evaluation of the game, a search plays the first round with that, and features
correct it so that it foretells how these games end; compiled, it plays later rounds with what was learned. Else
the first round is of random games, and in each later one the weights of the round before play against themselves.
What is regressed on is how a game ended, mixed with what the last weights said on the way there: TD(lambda), or,
compiled, the value of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.core.checks import check_number, check_whole
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import AboveEvaluation, feature_set
from zermelo.agents.evaluators.fitted.observed import FeatureSet
from zermelo.agents.evaluators.fitted.pattern_tables import PatternTables
from zermelo.agents.evaluators.written import features_for
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.players.expectiminimax import ExpectiminimaxAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Chance, InvalidSettingError, RewardSum, Traits, UnsupportedGameError, as_game
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.stats.ratings import EloEstimate, elo
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.tournament.run import round_robin
from zermelo.evaluation.training.fitting import fit, outcome_bounds, parted, prior_of, read_by, with_sharing
from zermelo.evaluation.training.self_play import Played, SelfPlay, after, is_copied, past_chance
from zermelo.evaluation.training.sharing import seat_turns, with_symmetries
from zermelo.evaluation.training.teacher import Teacher

_STARTS: Final = 50
_REMEMBERED: Final = 2
"""Rounds, besides the last, whose positions are fitted to; the first, of random games, is none of them."""
_SAMPLES: Final = 20
"""Random games that show what a game is like; of an environment more, until there are enough states."""
_SAMPLED_STATES: Final = 1_000
_OPENING: Final = 4
"""Random plies before the games of the match."""
_NODES: Final = 2_000
"""Of the search that plays with an evaluation that has been written, where it is not compiled."""
_DEPTHS: Final = (1, 2)
"""Of that search where it is: games are then so cheap that more of them teach more than deeper ones."""
_POSITIONS: Final = 24
"""That are taken from one such game, at most."""
_ENOUGH: Final = 100_000
"""That are taken from all such games of a round, about."""
_RANDOM_PART: Final = 0.6
"""Of the moves of a random game: after so many at most there are no more random ones in a compiled one.

With a few random moves anywhere, what was fitted to Breakthrough lost 300 Elo to the written evaluation: it had
hardly seen how moves are punished that nobody would choose, and a search asks about little else.
"""
_EXPLORE: Final = 0.3
"""The probability of a random move until then."""
_BIT_STATES: Final = 3_000
"""Positions by which it is found which bit of a state is which cell."""
_LONGEST: Final = 2_000
_LEAST: Final = {"games": 10, "rounds": 1, "match": 0}
_DEPTH: Final = 2
_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Round:
    """One round of self-play and fitting.

    Attributes:
        number: From 1 on.
        games, positions: Of self-play.
        loss: On a tenth of the games by which nothing was fitted or chosen: log loss in nats, or squared error.
        average: The same of always answering the average.
    """

    number: int
    games: int
    positions: int
    loss: float
    average: float


@dataclass(frozen=True)
class Tuned:
    """A fitted evaluation.

    Attributes:
        evaluator: It.
        rounds: How it came about.
        against: Who played the match: the agent with it, and the same agent without.
        wins, draws, losses: Of the agent with it.
        elo: The difference that they show; None where no match was played.
    """

    evaluator: FittedEvaluator
    rounds: tuple[Round, ...]
    against: tuple[str, str] | None
    wins: int
    draws: int
    losses: int
    elo: EloEstimate | None


def tune(
    env: Any,
    *,
    out: str,
    features: str = "auto",
    games: int = 1_000,
    rounds: int = 4,
    mixed: float = 0.7,
    ridge: float | None = None,
    match: int = 100,
    depth: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    on_game: Callable[[str, int, int], object] = lambda *_: None,
    on_round: Callable[[Round], object] = lambda _: None,
) -> Tuned:
    """Fits an evaluation, writes it to a file, and plays it against the untuned one.

    Args:
        env: A name, or a function that makes an environment: of one player, or of two whose rewards have a
            constant sum, with nothing hidden.
        out: The file to write, ending in ``.json``; ``alphabeta(evaluator="file.json")`` reads it.
        features: ``"patterns"`` of small windows of the board, ``"observation"`` for all numbers that players
            are shown, ``"module:name"`` of a dictionary of functions, or ``"auto"`` for patterns where there is a
            board.
        games: Of self-play in each round.
        rounds: How often to play and fit.
        mixed: Lambda: 1 for how games end, 0 for what the evaluation says of the next position.
        ridge: How strongly weights are held where they begin: as so many positions would. By default whichever of
            several is best on a tenth of the games.
        match: Games between the tuned and the untuned evaluation; 0 for none.
        depth: That both search in the match; 2 if nothing is said, where somebody has written an evaluation.
        seconds: That both have for a move of the match, if no depth is given; half a second where nobody has
            written an evaluation: what the untuned agent then does instead, to play games out, takes so long that
            the same depth says little.
        seed: Of all that is drawn.
        on_game: Called after each game with what is played, how many games were, and of how many.
        on_round: Called after each round.

    Raises:
        InvalidSettingError: A setting is wrong.
        UnsupportedGameError: The game is of another kind, or shows nothing that features could be read from.
        StoreError: The file cannot be written.
    """
    _check(out, games=games, rounds=rounds, mixed=mixed, ridge=ridge, match=match, depth=depth, seconds=seconds)
    live, name = build_env(env)
    generator = np.random.default_rng(seed)
    starts = []
    for number in range(_STARTS):
        live.reset(seed=seed + number)
        game = as_game(live)
        starts.append(game.snapshot(live))
    traits = game.traits
    _require_fit(traits)
    samples, walks = _some_states(game, starts[0], generator)
    chosen = with_symmetries(feature_set(features, game, samples), game, starts[0], samples, generator)
    bounds = traits.utility_bounds
    evaluator: FittedEvaluator | None = None
    done: list[Round] = []
    before: list[Played] = []
    for number in range(1, rounds + 1):
        player = _player(
            game, starts, chosen, evaluator, games=games, mixed=mixed, moves=len(samples) // walks,
            before=before, generator=generator, seed=seed,
        )  # fmt: skip
        played: list[Played] = []
        for count in range(1, games + 1):
            played += player.play()
            on_game(f"round {number}", count, games)
        if not played:
            raise UnsupportedGameError(f"games of {traits.name} are over before there is anything to learn from")
        parts = parted(before, played)
        if number == 1:
            bounds = outcome_bounds(traits, played)
            chosen = with_sharing(chosen, game, bounds, parts, seat_turns(chosen, game, starts[0], generator))
            played = [read_by(chosen, game, one) for one in played]
            parts = parted(before, played)
        found, strength = fit(bounds, parts, prior_of(chosen), ridge, evaluator)
        if isinstance(chosen, AboveEvaluation):
            ridge = strength
        evaluator = FittedEvaluator(
            chosen, found.weights, out, None if bounds == traits.utility_bounds else bounds
        )
        try:
            replace_text(out, [evaluator.as_json(env=name, games=games, rounds=number, seed=seed)])
        except OSError as error:
            raise StoreError(f"cannot write {out}: {error.strerror or error}") from error
        done.append(
            Round(number, len(played), sum(len(game.returns) for game in played), found.loss, found.average)
        )
        on_round(done[-1])
        before = before + played
        if not isinstance(chosen, AboveEvaluation):
            before = before[-_REMEMBERED * games :] if number > 1 else []
    assert evaluator is not None, "there is a round"
    if not match or traits.seats != 2:
        return Tuned(evaluator, tuple(done), None, 0, 0, 0, None)
    kind = "alphabeta" if traits.chance is Chance.NONE else "expectiminimax"
    if depth is None and seconds is None and features_for(game, starts[0]) is None:
        seconds = _SECONDS
    limit = f"seconds={seconds}" if seconds is not None else f"depth={_DEPTH if depth is None else depth}"
    specs = {"tuned": f"{kind}({limit}, evaluator={evaluator.spec()})", "untuned": f"{kind}({limit})"}
    wins, draws, losses = _matched(env, specs, match, seed, on_game)
    against = (specs["tuned"], specs["untuned"])
    return Tuned(evaluator, tuple(done), against, wins, draws, losses, elo(wins, draws, losses))


def _check(
    out: str, *, mixed: float, ridge: float | None, seconds: float | None, depth: int | None, **wholes: int
) -> None:
    """Refuses settings of ``tune``."""
    for name, value in wholes.items():
        check_whole(name, value, lower=_LEAST[name])
    if depth is not None:
        check_whole("depth", depth, lower=1)
    if seconds is not None:
        check_number("seconds", seconds, lower=0, above=True)
    if depth is not None and seconds is not None:
        raise InvalidSettingError("give a depth or seconds for the match, not both")
    check_number("mixed", mixed, lower=0)
    if mixed > 1:
        raise InvalidSettingError(f"mixed must be at most 1, not {mixed}")
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


def _player(
    game: Any,
    starts: Sequence[Any],
    features: FeatureSet,
    evaluator: FittedEvaluator | None,
    *,
    games: int,
    mixed: float,
    moves: int,
    before: Sequence[Played],
    generator: np.random.Generator,
    seed: int,
) -> Teacher | SelfPlay:
    """Who plays the games: a search with a written evaluation if there is one, else what was learned so far.

    Compiled, the search with a written evaluation makes place for one with what was learned from its games
    (``before``). Random games have so many ``moves``.
    """
    search: SearchAgent | None = None
    opening = min(2 * _OPENING, moves // 4)
    if isinstance(features, AboveEvaluation):
        if Teacher.can_play(game):
            return Teacher(
                game, starts, features, depths=_DEPTHS, opening=round(_RANDOM_PART * moves), explore=_EXPLORE,
                longest=_LONGEST, positions=min(_POSITIONS, 1 + _ENOUGH // games), generator=generator,
                fitted=_compiled(game, evaluator, before), mixed=mixed,
            )  # fmt: skip
        opposed = game.traits.chance is Chance.NONE and game.traits.seats == 2
        search = (AlphaBetaAgent if opposed else ExpectiminimaxAgent)(nodes=_NODES, seed=seed)
    return SelfPlay(
        game, starts, features, evaluator, mixed=mixed, opening=opening, explore=0.05, longest=_LONGEST,
        generator=generator, teacher=search,
    )  # fmt: skip


def _compiled(game: Any, evaluator: FittedEvaluator | None, before: Sequence[Played]) -> PatternTables | None:
    """What was learned, to be looked up by compiled code; None if there is nothing yet, or it cannot be."""
    if evaluator is None:
        return None
    states = [state for played in before for state in played.states]
    return evaluator.tables(game, states[:: 1 + len(states) // _BIT_STATES])


def _require_fit(traits: Traits) -> None:
    require_perfect_information(traits, "tune")
    if traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL):
        raise UnsupportedGameError(
            f"tune fits evaluations of games of one player, or of two whose rewards have a constant sum, not of "
            f"{traits.name}"
        )


def _some_states(game: Any, start: Any, generator: np.random.Generator) -> tuple[list[Any], int]:
    """The states of some random games, and how many games those were.

    Which pieces an environment may put upon each other is only to be seen in play.
    """
    found, walks = list[Any](), 0
    while walks < _SAMPLES or (walks < 10 * _SAMPLES and len(found) < _SAMPLED_STATES and is_copied(game)):
        found += _wander(game, start, generator)
        walks += 1
    return found, walks


def _wander(game: Any, state: Any, generator: np.random.Generator) -> list[Any]:
    """The states of a random game in which a player is to move."""
    found = []
    for _ in range(_LONGEST):
        state = past_chance(game, state, generator)
        if game.is_terminal(state):
            break
        found.append(state)
        actions = game.legal_actions(state)
        state = after(game, state, actions[int(generator.integers(len(actions)))], generator)
    return found


def _matched(
    env: Any, specs: Mapping[str, str], match: int, seed: int, on_game: Callable[[str, int, int], object]
) -> tuple[int, int, int]:
    """Wins, draws and losses of the tuned agent, each opening from both seats."""
    outcomes = {"win": 0, "draw": 0, "loss": 0}

    def count(record: Any) -> None:
        seat = record.agents.index("tuned")
        if not record.void:
            outcomes[str(record.outcomes[seat])] += 1
        on_game("match", sum(outcomes.values()), match)

    round_robin(env, specs, games=match, seed=seed, openings=_OPENING, progress=False, on_game=count)
    return outcomes["win"], outcomes["draw"], outcomes["loss"]
