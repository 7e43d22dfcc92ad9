"""Many games at once in compiled code: game, kernel, arrays, and threads that play a part of them each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.compiled.layout import GOING, Search, SharedRecord
from zermelo.agents.compiled.program import fits
from zermelo.agents.compiled.threads import run_here, share
from zermelo.agents.learning.vector_layout import GAMES
from zermelo.agents.learning.vector_opponents import Opponent
from zermelo.envs import UnsupportedGameError, make
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.position import search_game
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.observations import observation_dtype
from zermelo.envs.rules.rules_game import RulesGame


def compiled_game(env: Any) -> RulesGame:
    """The game of rules that an environment plays.

    Raises:
        UnsupportedGameError: There are no rules of it, or they cannot be compiled here.
    """
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


def games_kernel(game: RulesGame, opponent: Opponent) -> Any:
    """The kernel of all games, compiled for the rules and the opponent."""
    from zermelo.agents.compiled.layout import RECORD
    from zermelo.agents.learning import vector_kernel

    constants = {**states_constants(game.rules), **opponent.constants}
    arguments = ("int64", "int64", "int64", GAMES, RECORD)
    return build(game.rules, Kernel(vector_kernel.play, arguments, tuple(sorted(constants.items()))))


def states_constants(rules: Any) -> dict[str, bool]:
    """The constants of ``states_kernel`` for rules: their past, and how players observe them."""
    observes = hasattr(rules, "write_observation")
    bits = not observes and not hasattr(rules, "observation")
    wide = observes and observation_dtype(rules).itemsize > 1
    constants = {"HISTORY": has_history(rules), "OBSERVES": observes and not wide, "WIDE": wide, "BITS": bits}
    return {f"zermelo.agents.learning.states_kernel.{name}": value for name, value in constants.items()}


def words_in(state: Any) -> int:
    """Number of words of a state, those of the tuples inside it included."""
    return sum(words_in(part) if isinstance(part, tuple) else 1 for part in state)


class Lane(NamedTuple):
    """A thread's kernel, record of the games and search, and a maker of the kernel's rules and state.

    ``owner`` keeps memory alive that the search has the addresses of.
    """

    kernel: Callable[..., int]
    record: SharedRecord
    search: Search
    start: Callable[[Any], tuple[Any, Any]]
    owner: Any = None


def split_games(lanes: Sequence[Lane], first: int, last: int) -> list[tuple[Lane, int, int]]:
    """Lanes with the first and the last game of each, which is excluded."""
    edges = np.linspace(first, last, len(lanes) + 1).astype(int).tolist()
    return list(zip(lanes, edges[:-1], edges[1:], strict=True))


def run_parts(parts: Sequence[tuple[Lane, int, int]], state: Any, code: int) -> int:
    """Calls the kernel of each part, in threads; the sum of what they return."""
    by_search = {id(part[0].search): part for part in parts}
    answers: list[int] = []

    def call(search: Search) -> None:
        lane, first, last = by_search[id(search)]
        search.stop = GOING  # Ctrl-C may have stopped the last step
        answers.append(int(lane.kernel(*lane.start(state), first, last, code, lane.record, search)))

    searches = [lane.search for lane, _, _ in parts]
    if len(searches) == 1:
        run_here(call, searches[0])
    elif searches:
        share(call, searches, lambda: None)
    return sum(answers)


def fill_record(record: SharedRecord, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]) -> None:
    """Tells a thread's record of the arrays and of the numbers that all games have in common."""
    for name, array in arrays.items():
        record.hold(name, array)
    for name, value in numbers.items():
        setattr(record, name, value)
