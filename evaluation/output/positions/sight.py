"""A position in which something is hidden, as one seat sees it, in text."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from zermelo.envs import Information, ZermeloError
from zermelo.envs.adapters.openspiel.game import is_openspiel
from zermelo.envs.capabilities import SupportsInformationStates, SupportsText

_DEALS: Final = 64
"""Deals of the hidden part, to see which words of a text depend on it."""


def hides_something(game: Any) -> bool:
    """Whether a seat may not see the whole state; so too where nothing is known of the game (None)."""
    return game is None or game.traits.information is Information.HIDDEN


def seen_by(game: Any, env: Any, seat: int) -> str:
    """A live environment as a seat sees it: the game's text without what is hidden, else what it observes."""
    try:
        state = None if game is None else game.snapshot(env)
    except ZermeloError:
        state = None
    if is_openspiel(state):
        return _of_openspiel(state, seat)
    is_text = state is not None and isinstance(game, SupportsText)
    knows = is_text and isinstance(game, SupportsInformationStates)
    return (_without_hidden(game, state, seat) if knows else "") or _cards(env, seat) or _observation(env, seat)


def _without_hidden(game: Any, state: Any, seat: int) -> str:
    """The game's text; words that differ as what the seat has not seen is dealt again are question marks."""
    generator = np.random.default_rng(0)
    text = game.text(state)
    if "\n" not in text:
        return ""  # a name, and no drawing
    lines = [_words(line) for line in text.split("\n")]
    for _ in range(_DEALS):
        other = [_words(line) for line in game.text(game.resample(state, seat, generator)).split("\n")]
        if [len(line) for line in other] != [len(line) for line in lines]:
            return ""  # how much there is to say depends on what is hidden
        for mine, theirs in zip(lines, other, strict=True):
            mine[:] = [word if word == new else "?" for word, new in zip(mine, theirs, strict=True)]
    return "\n".join("".join(line) for line in lines)


def _words(line: str) -> list[str]:
    """The words and what is between them."""
    return re.findall(r"\s+|\S+", line)


def _of_openspiel(state: Any, seat: int) -> str:
    """OpenSpiel's own words for what a player knows."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return str(state.information_state_string(seat))
    return str(state.observation_string(seat)) if kind.provides_observation_string else ""


def _cards(env: Any, seat: int) -> str:
    """RLCard's games say what a player knows by name: hand, open cards, chips."""
    get_state = getattr(getattr(env.unwrapped, "env", None), "get_state", None)
    try:
        raw = {} if get_state is None else get_state(seat)["raw_obs"]
    except Exception:  # the environment is not RLCard's, or has nothing to say at this point
        return ""
    named = {str(name).replace("_", " "): value for name, value in raw.items() if name != "legal_actions"}
    return "\n".join(f"{name}: {_listed(value)}" for name, value in named.items())


def _listed(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _observation(env: Any, seat: int) -> str:
    """The numbers that the seat's player is shown."""
    names = getattr(env, "possible_agents", None)
    if not names:
        return ""
    try:
        seen = env.observe(names[seat])
    except Exception:  # some environments cannot show an agent what it has no turn to see
        return ""
    seen = seen.get("observation") if isinstance(seen, dict) else seen
    return f"You observe {np.array2string(np.asarray(seen), threshold=400, max_line_width=78)}"
