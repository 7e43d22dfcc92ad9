"""OpenSpiel's backgammon, whose actions and rolls have other numbers.

Of Hypergammon there are no such rules: there a game that is won returns nothing to either player.
"""

from __future__ import annotations

from zermelo.envs.games.backgammon.plays import BAR, ORDER, PLACES
from zermelo.envs.games.backgammon.rules import Backgammon, BackgammonState
from zermelo.envs.rules.about import OpenSpielRules, openspiel_rules

_POINTS = {"winloss_scoring": 1, "enable_gammons": 2, "full_scoring": 3}
_NOTHING = 25
"""Stands for a checker that is not played; 24 for the bar."""
_PASS = ORDER + PLACES * _NOTHING + _NOTHING
_ROLLS = [(high, low) for low in range(1, 7) for high in range(low + 1, 7)]
"""Rolls without doubles, in OpenSpiel's order; each has two outcomes, the first player's being the even one."""
_DOUBLES = 2 * len(_ROLLS)


@openspiel_rules("backgammon")
def _openspiel(hyper_backgammon: bool, max_player_turns: int, scoring_type: str) -> OpenSpielRules | None:
    """A draw after so many rolls, unless somebody wins before."""
    if hyper_backgammon or scoring_type not in _POINTS:
        return None
    return OpenSpielRules(
        rules=Backgammon(_POINTS[scoring_type]),
        to_openspiel=_to_openspiel,
        from_openspiel=_from_openspiel,
        read=_read,
    )


def _read(state: BackgammonState) -> BackgammonState:
    """In OpenSpiel checkers of a double come in any order: the second half may then be played from anywhere."""
    return state._replace(roll=64 * BAR + state.roll % 64) if state.roll >= 64 else state


def _to_openspiel(state: BackgammonState, action: int) -> int:
    if state.roll <= 0:
        high, low = divmod(action, 6)
        if high == low:
            return _DOUBLES + high
        second_starts = state.roll < 0 and low > high
        if second_starts:
            high, low = low, high
        return 2 * _ROLLS.index((high + 1, low + 1)) + second_starts
    if action == 0:
        return _PASS
    order, places = divmod(action, ORDER)
    first, second = (_number(place, state.seat) for place in divmod(places, PLACES))
    return ORDER * order + PLACES * second + first


def _from_openspiel(state: BackgammonState, number: int) -> int:
    if state.roll <= 0:
        if number >= _DOUBLES:
            return 7 * (number - _DOUBLES)
        high, low = _ROLLS[number // 2]
        if state.roll < 0 and number % 2:
            high, low = low, high
        return 6 * (high - 1) + low - 1
    if number == _PASS:
        return 0
    order, places = divmod(number, ORDER)
    second, first = (_place(place, state.seat) for place in divmod(places, PLACES))
    return ORDER * order + PLACES * first + second


def _number(place: int, seat: int) -> int:
    """OpenSpiel's number of a place of ours: points go up for the first player, down for the second."""
    if place in (0, BAR):
        return _NOTHING if place == 0 else 24
    return place - 1 if seat else 24 - place


def _place(number: int, seat: int) -> int:
    if number >= 24:
        return 0 if number == _NOTHING else BAR
    return number + 1 if seat else 24 - number
