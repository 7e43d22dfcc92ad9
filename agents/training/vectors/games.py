"""Many games at once in compiled code: their memory, and threads that play a part of the games each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.kernels.layout import GOING, KernelRecord, SharedRecord, dtype_of, laid_out
from zermelo.agents.kernels.program import fits
from zermelo.agents.kernels.threads import run_all, run_in_caller
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.jit.build import build
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.position import search_game
from zermelo.envs.registration.make import make
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.observations import observation_dtype, observation_space
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flatten_state

FEW: Final = 64  # games that are worth another thread
Part = TypeVar("Part")


PARTS: Final = 1_000_000  # shares of random moves are counted in millionths


@laid_out
class Games(SharedRecord):
    """Games of a learner against opponents, as kernels and Python share them.

    An array's field is annotated with the type of its numbers and the names of its axes.
    """

    __slots__ = ()

    states: Annotated[int, np.int64, "games", "state_words"]  # the words of the state
    state_words: int
    position_words: int  # how many of them are the position; the rest is what is known of the past
    stacks: Annotated[int, np.int64, "games", "stack_words"]  # keys of the past, for rules with repetition
    stack_words: int
    random: Annotated[int, np.int64, "games"]  # the counter of random numbers
    moves: Annotated[int, np.int64, "games"]  # moves made in this game, by anybody
    observations: Annotated[int, np.int8, "games", "observed"]  # int64 where a number has more than one byte
    observed: int
    choices: int  # the actions that players have
    width: int  # the most actions of a state
    longest: int  # moves after which a game is over
    seats: Annotated[int, np.int64, "games"]  # the learner's seat, or -1 where all seats learn
    episodes: Annotated[int, np.int64, "games"]  # how many games have begun
    over: Annotated[int, np.int8, "games"]  # whether the game is over and waits for a reset
    # A step's input and results.
    actions: Annotated[int, np.int64, "games"]
    movers: Annotated[int, np.int64, "games"]  # the seat to move
    rewards: Annotated[int, np.float64, "games", "seat_count"]
    terminated: Annotated[int, np.int8, "games"]
    truncated: Annotated[int, np.int8, "games"]
    illegal: Annotated[int, np.int8, "games"]
    masks: Annotated[int, np.int8, "games", "choices"]
    final: Annotated[int, np.int8, "games", "observed"]  # of games that ended, where they begin again in this step
    # Common to all games.
    seat_count: int
    seat_rule: int  # the learner's seat; -1 for each in turn, -2 for any, -3 for all
    same_step: int  # whether a game that is over begins again in the same step, not in the next one
    illegal_reward: float
    rounds: int  # games after which a place stays empty; 0 for none
    opening: int  # random moves that games begin with
    # How opponents choose, and a few words for that, a thread's own.
    simulations: int
    noise: int  # the share of random moves, in ``PARTS``
    scratch: int


class GamesVariant(NamedTuple):
    """The record of the kernel that plays many games at once."""

    history: bool = False  # states know their past
    observes: bool = False  # the rules write observations; else these are the bits of the state, and who observes
    wide: bool = False  # numbers of observations have more than one byte; they then take a word each


class OpponentVariant(NamedTuple):
    """How opponents choose; at random if by none of these."""

    looks: bool = False  # one move ahead
    searches: bool = False  # by a tree search
    simulates: bool = False  # by Monte Carlo


def compiled_game(env: Any) -> RulesGame:
    """The game of rules that an environment plays."""
    made = make(env) if isinstance(env, str) else env
    if hasattr(made, "reset"):
        made.reset(seed=0)
    game = search_game(made)
    if not isinstance(game, RulesGame):
        raise UnsupportedGameError(
            f"{game.traits.name} has no compiled rules, which many games at once need: take OpponentEnv in "
            "gymnasium.vector.AsyncVectorEnv, or write rules (zermelo.envs.rules)"
        )
    if not fits(game):
        raise UnsupportedGameError("many games at once need Numba, which is not there or switched off")
    return game


class GameArrays:
    """The memory of many games: an array for each annotated field of ``Games``; ``sizes`` are numbers besides."""

    def __init__(self, game: RulesGame, count: int, longest: int, **sizes: float) -> None:
        rules = self._rules = game.rules
        writes = hasattr(rules, "write_observation")
        if hasattr(rules, "observation") and not writes:
            raise UnsupportedGameError(
                f"{game.traits.name} has observations that do not compile, which many games at once need: write "
                "write_observation, or take OpponentEnv in gymnasium.vector.AsyncVectorEnv"
            )
        self.space = observation_space(rules)
        is_wide = writes and observation_dtype(rules).itemsize > 1
        past = has_history(rules)
        self._variant = GamesVariant(history=past, observes=writes, wide=is_wide)
        self.numbers: dict[str, float] = {
            "state_words": len(flatten_state(argument_maker(rules, 0)(game.initial_state())[1])),
            "position_words": len(flatten_state(rules.initial_state())),
            "stack_words": 2 * (longest + 8) if past else 0,
            "observed": int(np.prod(self.space.shape)),
            "choices": int(game.traits.num_actions or 0),
            "width": max(game.max_legal_actions, 1),
            "seat_count": game.traits.seats,
            "longest": longest,
            **sizes,
        }
        self.arrays = dict[str, NDArray[Any]]()
        for name, hint in get_type_hints(Games, include_extras=True).items():
            if described := getattr(hint, "__metadata__", ()):
                kind, *axes = described
                shape = [count if axis == "games" else int(self.numbers[axis]) for axis in axes]
                self.arrays[name] = np.zeros(shape, np.int64 if is_wide and axes[-1] == "observed" else kind)

    def shards(
        self, play: Callable[..., int], searches: Sequence[KernelRecord], plies: int, variants: tuple[Any, ...]
    ) -> list[Shard]:
        """A thread's part of the work for each search; games may go on for ``plies`` moves."""
        arguments = "int64", "int64", "int64", dtype_of(Games), dtype_of(type(searches[0]))
        kernel = build(self._rules, Kernel(play, arguments, (self._variant, *variants)))
        shards = []
        for search in searches:
            record = Games()
            for name, array in self.arrays.items():
                record.attach(name, array)
            for name, value in self.numbers.items():
                setattr(record, name, value)
            shards.append(Shard(kernel, record, search, argument_maker(self._rules, plies)))
        return shards


class Shard(NamedTuple):
    """A thread's kernel, record of the games and search, and a maker of the kernel's rules and state."""

    kernel: Callable[..., int]
    record: Any
    search: KernelRecord
    start: Callable[[Any], tuple[Any, Any]]


def split_games(among: Sequence[Part], first: int, last: int) -> list[tuple[Part, int, int]]:
    """Lanes or opponents with the first and the last game of each, which is excluded."""
    edges = np.linspace(first, last, len(among) + 1).astype(int).tolist()
    return list(zip(among, edges[:-1], edges[1:], strict=True))


def run_parts(parts: Sequence[tuple[Shard, int, int]], state: Any, code: int) -> int:
    """Calls the kernel of each part, in threads; the sum of what they return."""
    by_search = {id(part[0].search): part for part in parts}
    answers: list[int] = []

    def call(search: KernelRecord) -> None:
        shard, first, last = by_search[id(search)]
        search.stop = GOING  # Ctrl-C may have stopped the last step
        answers.append(int(shard.kernel(*shard.start(state), first, last, code, shard.record, search)))

    searches = [shard.search for shard, _, _ in parts]
    if len(searches) == 1:
        run_in_caller(call, searches[0])
    elif searches:
        run_all(call, searches, lambda: None)
    return sum(answers)
