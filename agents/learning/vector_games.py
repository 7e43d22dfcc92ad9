"""What many games at once are played by: a game whose rules compile, and the kernel for it and an opponent."""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.program import fits
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
    """What ``states_kernel`` has for rules: their past, and how players observe them."""
    observes = hasattr(rules, "write_observation")
    bits = not observes and not hasattr(rules, "observation")
    wide = observes and observation_dtype(rules).itemsize > 1
    constants = {"HISTORY": has_history(rules), "OBSERVES": observes and not wide, "WIDE": wide, "BITS": bits}
    return {f"zermelo.agents.learning.states_kernel.{name}": value for name, value in constants.items()}


def words_in(state: Any) -> int:
    """How many words a state takes, those of the tuples inside it included."""
    return sum(words_in(part) if isinstance(part, tuple) else 1 for part in state)
