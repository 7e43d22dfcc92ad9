"""Lines of play in which an environment's own code fails: they are left out, and the search goes on.

Games that play copies of environments count them; of any other game an error is raised as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.envs.capabilities import SupportsCopies, innermost_game, offers
from zermelo.envs.errors import EnvFailedError, GameOverError


def child_of(game: Any, state: Any, action: int) -> Any:
    """The state after an action or an outcome of chance; None where the environment failed on the way."""
    try:
        return game.result(state, action)
    except EnvFailedError as error:
        skip_branch(game, error)
        return None


def choices_in(game: Any, state: Any) -> Sequence[int]:
    """The legal actions of a state; none where the environment could not say them, or has none."""
    try:
        actions: Sequence[int] = game.legal_actions(state)
    except (EnvFailedError, GameOverError) as error:
        skip_branch(game, error)
        return ()
    return actions


def can_skip_branch(game: Any) -> bool:
    """Returns whether the search of a game goes on where its environment fails."""
    return offers(innermost_game(game), SupportsCopies)


def skip_branch(game: Any, error: Exception) -> None:
    """Has a game count a line of play that is left out; raises the error where the game cannot."""
    game = innermost_game(game)
    if not offers(game, SupportsCopies):
        raise error
    game.record_failure(error)


def no_action_works(game: Any) -> EnvFailedError:
    """The error for a position in which the environment fails after every action."""
    return EnvFailedError(
        f"{game.traits.name} fails after every action here, so none can be played: a warning has the file and line"
    )
