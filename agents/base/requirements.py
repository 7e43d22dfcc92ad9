"""Does this agent fit this game? Asked before any search, and answered in a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar

from zermelo.envs.capabilities import (
    SupportsCopies,
    SupportsInformationStates,
    SupportsSimultaneousMoves,
    innermost_game,
    offers,
)
from zermelo.envs.errors import GameOverError, UnknownTraitWarning, UnsupportedGameError, ZermeloError, warn_once
from zermelo.envs.game import CHANCE, Chance, Game, Information, RewardSum, Traits


class Fit(NamedTuple):
    """A kind of game, as ``auto`` gives it for a reason, and the names of agents for it.

    ``auto`` takes the first of ``agents`` whose own conditions hold; messages list those that are ``advised``.
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
HIDDEN: Final = Fit("players do not see everything", ("ismcts",), ("'ismcts'", "'random'", _OBSERVING))
PUZZLE: Final = Fit(
    "one player, and nothing is left to chance",
    ("value_iteration", "best_first", "expectiminimax", "mcts"),
    ("'best_first'", "'expectiminimax'", "'mcts'"),
)
PLANNING: Final = Fit("one player", ("value_iteration", "expectiminimax", "mcts"), ("'expectiminimax'", "'mcts'"))
OPPOSED: Final = Fit("two players are opposed", ("alphabeta", *_MCTS), ("'alphabeta'", "'minimax'", "'mcts'"))
DICE: Final = Fit("probabilities are exact", ("expectiminimax", *_MCTS), ("'expectiminimax'", "'mcts'"))
OTHERS: Final = Fit("players who are not simply opposed", _MCTS, ("'maxn'", "'paranoid'", "'mcts'"))


_ROUNDS_SHOWN: Final = "parallel_to_aec(wrapper(env)), not wrapper(parallel_to_aec(env)), shows who moves together"


def fit_of(traits: Traits) -> Fit:
    """The agents for the games with these traits."""
    if not traits.is_open:
        return TOGETHER if traits.simultaneous else HIDDEN
    if traits.seats == 1:
        return PUZZLE if traits.chance is Chance.NONE else PLANNING
    if traits.is_opposed:
        return OPPOSED if traits.chance is Chance.NONE else DICE
    return OTHERS


def agents_that_fit(traits: Traits) -> str:
    """The names of the agents for such a game, as a message lists them."""
    if not traits.is_open and not traits.deals_again:
        rounds = f" {_ROUNDS_SHOWN};" if traits.simultaneous else ""
        return (
            f"'random' or a policy that only sees observations;{rounds} searches that deal again what players "
            "have not seen need information_state_key and resample in its class (the guide 'Cards of your own')"
        )
    *names, last = fit_of(traits).advised
    comma = "," if last == _OBSERVING else ""
    return f"{', '.join(names)}{comma} or {last}"


_FUNCTIONS = ("solve", "solve_simultaneous", "exact_values")
"""Functions that ask here; other agents are no advice for them."""
_GENERAL = "is general-sum: the players' utilities do not add up to a constant"


def _refusal(traits: Traits, agent: str, needs: str, found: str, trait: str | None) -> UnsupportedGameError:
    told = f" ({traits.source(trait).value})" if trait is not None else ""
    advice = "search it with" if agent in _FUNCTIONS else "use"
    return UnsupportedGameError(
        f"{agent} needs {needs}, but {traits.name} {found}{told}: {advice} {agents_that_fit(traits)}"
    )


def require_perfect_information(traits: Traits, agent: str) -> None:
    """Refuses hidden cards and simultaneous moves: a search would look at what its player cannot know."""
    require_turns(traits, agent)
    if not traits.is_open:
        raise _refusal(
            traits, agent, "to see the whole state", "hides part of it from the player to move", "information"
        )


def require_turns(traits: Traits, agent: str) -> None:
    """Refuses simultaneous moves."""
    if traits.simultaneous:
        raise _refusal(traits, agent, "players who take turns", "has them decide at the same time", "simultaneous")


def require_information_states(game: Game[Any], agent: str) -> None:
    """Refuses games that do not say what their players know, or in which they know everything.

    Where they do say it, players who decide at the same time are players who do not see each other's last move.
    """
    if offers(game, SupportsInformationStates):
        return
    require_turns(game.traits, agent)
    name = game.traits.name
    if game.traits.drawn_again:
        lists = ", ".join(".".join(map(str, path)) for path in game.traits.drawn_again)
        raise UnsupportedGameError(
            f"{agent} is for games that hide something from one player or another, and {name} hides the order of "
            f"{lists} from all, which other searches draw again: use {agents_that_fit(game.traits)}"
        )
    if game.traits.information is Information.PERFECT:
        raise UnsupportedGameError(
            f"{agent} is for games that hide something from the player to move, and {name} does not: use "
            f"{agents_that_fit(game.traits)}"
        )
    raise UnsupportedGameError(
        f"{agent} needs to know what players see, and {name} does not say it: write information_state_key and "
        "resample into its class, or call register_information (the guide 'Cards of your own'); else use 'random'"
    )


def require_simultaneous(game: Game[Any], agent: str) -> None:
    """Refuses games that do not say who moves together, or that hide anything else.

    Where nothing says whether they do, a warning does, once a game.
    """
    name = game.traits.name
    if not offers(game, SupportsSimultaneousMoves):
        if not game.traits.simultaneous:
            raise UnsupportedGameError(
                f"{agent} is for games in which players move at the same time, and in {name} they take turns: use "
                f"{agents_that_fit(game.traits)}"
            )
        raise UnsupportedGameError(
            f"{agent} needs to know who moves together, and {name} does not say it: give an environment made by "
            "parallel_to_aec, an OpenSpiel game, or a Game with movers, actions_of and joint_result; "
            f"{_ROUNDS_SHOWN}"
        )
    hides_more = game.hides_more()
    if hides_more:
        raise UnsupportedGameError(
            f"{agent} needs players to see all but each other's moves of the moment, and {name} hides more: use "
            "'ismcts', if it says what players see, 'random', or a policy that only sees observations"
        )
    if hides_more is None:
        tell_once(
            game,
            "is searched as if players saw everything but each other's moves of the moment: nothing says whether "
            f"they do. If so, say it: {_SAY_PERFECT}; if not, the search peeks: use 'random', or a policy that "
            "only sees observations",
        )


_SAY_PERFECT: Final = (
    "traits={'information': 'perfect'} for the agent or as_game, or an attribute zermelo_traits = "
    "{'information': 'perfect'} of the environment's class"
)


def tell_once(game: Any, text: str, about: str = "") -> None:
    """Warns, once for a class of environments or a game of rules, of the same text or the same subject."""
    game = innermost_game(game)
    if offers(game, SupportsCopies):
        game.tell_once(text, UnknownTraitWarning, about)
    else:
        name = game.traits.name
        warn_once(type(game), f"{name} {text}", UnknownTraitWarning, (name, about) if about else "")


def trusted_traits(traits: Traits) -> tuple[str, ...]:
    """The traits that a search assumes, each as a text with its evidence."""
    assumed = [f"{name}: {getattr(traits, name)} ({_evidence(traits, name)})" for name in traits.assumed]
    return (*assumed, *["information: hidden (the search sees it all the same)"] * traits.peeks)


def _evidence(traits: Traits, name: str) -> str:
    evidence = traits.evidence.get(name)
    return "assumed" if evidence is None else evidence.text


def warn_of_assumptions(game: Game[Any]) -> None:
    """Warns, once a class, of hidden things that a search sees, and of assumptions with little evidence."""
    traits = game.traits
    if traits.peeks:
        tell_once(
            game,
            "hides something from its players, which searches see all the same, as nothing says what it is.\n"
            "Say what players know: information_state_key and resample in its class "
            "(the guide 'Cards of your own')",
        )
    thin = {name: str(getattr(traits, name)) for name in traits.assumed if _is_thin(traits, name)}
    if thin:
        about = "; ".join(f"{name} {value!r}, on {_evidence(traits, name)}" for name, value in thin.items())
        tell_once(
            game,
            f"is searched on assumptions: {about}; nothing is proven.\n"
            f"Say what holds: zermelo_traits = {thin} in its class, or traits={thin} for the agent",
            about=f"assumed: {thin}",
        )


def _is_thin(traits: Traits, name: str) -> bool:
    evidence = traits.evidence.get(name)
    return evidence is None or evidence.is_thin


Found = TypeVar("Found")


def unproven(found: Found) -> Found:
    """A result in which nothing is proven: a trait is only assumed, or a line of play was left out."""
    result: Any = found
    changes: dict[str, Any] = {"proven": False, "plies": None}
    if hasattr(result, "proven_actions"):
        changes["proven_actions"] = ()
    return dataclasses.replace(result, **changes)  # type: ignore[no-any-return]  # of the same class


def require_facts(traits: Traits, agent: str) -> None:
    """Refuses a game of which something is only assumed, for those who promise exact values."""
    unknown = {name: str(getattr(traits, name)) for name in traits.guessed}
    if unknown:
        names, sources = " and ".join(unknown), {traits.source(name).value for name in unknown}
        raise UnsupportedGameError(
            f"{agent} needs to know the {names} of {traits.name}, which is only {' or '.join(sorted(sources))}; "
            f"where it is so, say it: zermelo_traits = {unknown} in its class, or as_game(env, traits={unknown})"
        )


def require_two_opposed(traits: Traits, agent: str) -> None:
    """Refuses anything but two players whose utilities add up to a constant."""
    if traits.seats != 2:
        players = "one player" if traits.seats == 1 else f"{traits.seats} players"
        raise _refusal(traits, agent, "two players", f"has {players}", None)
    if traits.reward_sum is RewardSum.GENERAL:
        raise _refusal(traits, agent, "what one player wins to be what the other loses", _GENERAL, "reward_sum")


def require_plain_game(traits: Traits, agent: str) -> None:
    """Refuses anything but two players, opposed, without chance, with everything seen."""
    for require in (require_perfect_information, require_deterministic, require_two_opposed):
        require(traits, agent)


def require_one_player(traits: Traits, agent: str) -> None:
    """Refuses opponents."""
    if traits.seats > 1:
        raise _refusal(traits, agent, "one player", f"has {traits.seats} players", None)


def require_one_or_two_opposed(traits: Traits, agent: str) -> None:
    """Refuses anything but one player, or two whose utilities add up to a constant."""
    if traits.seats > 2:
        raise _refusal(traits, agent, "one or two players", f"has {traits.seats} players", None)
    if traits.seats == 2:
        require_two_opposed(traits, agent)


def require_deterministic(traits: Traits, agent: str) -> None:
    """Refuses dice."""
    if traits.chance is not Chance.NONE:
        raise _refusal(traits, agent, "a game without chance", "has chance", "chance")


def require_decision(game: Game[Any], state: Any) -> Sequence[int]:
    """The legal actions of a state; none where several players move. Refuses one with nothing to decide.

    Raises:
        GameOverError: The game has ended, chance is to move, or the player to move has no legal action.
    """
    if game.is_terminal(state):
        raise GameOverError(f"{game.traits.name} is over: there is no action to choose; reset the environment")
    if game.traits.simultaneous and offers(game, SupportsSimultaneousMoves) and game.movers(state):
        return ()
    if game.to_move(state) == CHANCE:
        raise GameOverError(
            f"chance is to move in {game.traits.name}: there is no action to choose; apply one of its outcomes"
        )
    actions = game.legal_actions(state)
    if not actions:
        raise no_legal_action(game)
    return actions


def no_legal_action(game: Game[Any]) -> ZermeloError:
    """The error for a player who must move and cannot."""
    return GameOverError(
        f"the player to move in {game.traits.name} has no legal action although the game goes on: the environment "
        "should end the game or offer a pass"
    )
