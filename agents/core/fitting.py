"""Which agents fit which games: one table, for ``auto`` and for the advice in messages."""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs import Chance, Information, Traits


class Fit(NamedTuple):
    """A kind of game and the agents for it.

    Attributes:
        games: The kind, as ``auto`` gives it for a reason.
        agents: Names; ``auto`` takes the first whose own conditions hold.
        advised: Names as messages list them.
    """

    games: str
    agents: tuple[str, ...]
    advised: tuple[str, ...]


_OBSERVING: Final = "a policy that only sees observations"
_MCTS: Final = ("openspiel_mcts", "mcts")
TOGETHER: Final = Fit(
    "players move at the same time",
    ("backward_induction", "simultaneous_mcts"),
    ("'simultaneous_mcts'", "'random'", _OBSERVING),
)
HIDDEN: Final = Fit("players do not see everything", ("hanabi", "ismcts"), ("'ismcts'", "'random'", _OBSERVING))
PUZZLE: Final = Fit(
    "one player, and nothing is left to chance",
    ("value_iteration", "best_first", "expectiminimax", "mcts"),
    ("'best_first'", "'expectiminimax'", "'mcts'"),
)
PLANNING: Final = Fit("one player", ("value_iteration", "expectiminimax", "mcts"), ("'expectiminimax'", "'mcts'"))
OPPOSED: Final = Fit("two players are opposed", ("alphabeta", *_MCTS), ("'alphabeta'", "'minimax'", "'mcts'"))
DICE: Final = Fit("probabilities are exact", ("expectiminimax", *_MCTS), ("'expectiminimax'", "'mcts'"))
OTHERS: Final = Fit("players who are not simply opposed", _MCTS, ("'maxn'", "'paranoid'", "'mcts'"))


def fit_of(traits: Traits) -> Fit:
    """The agents for the games with these traits."""
    if traits.information is Information.HIDDEN:
        return TOGETHER if traits.simultaneous else HIDDEN
    if traits.seats == 1:
        return PUZZLE if traits.chance is Chance.NONE else PLANNING
    if traits.is_opposed:
        return OPPOSED if traits.chance is Chance.NONE else DICE
    return OTHERS


def agents_that_fit(traits: Traits) -> str:
    """The names of the agents for such a game, as a message lists them."""
    if traits.information is Information.HIDDEN and not traits.deals_again:
        return (
            "'random' or a policy that only sees observations; searches that deal again what players have not "
            "seen need information_state_key and resample in its class (the guide 'Cards of your own')"
        )
    *names, last = fit_of(traits).advised
    comma = "," if last == _OBSERVING else ""
    return f"{', '.join(names)}{comma} or {last}"
