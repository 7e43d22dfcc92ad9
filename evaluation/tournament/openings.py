"""Openings: the actions that games begin with before the agents take over.

They make deterministic agents play different games. Every opening is played once from each seat, so that what it
gives to a seat it gives to every agent of a pairing. In a game with chance an opening is the actions, not the
position that they lead to: that depends on the game's own seed too.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from typing import Any, Final

from zermelo.agents import RandomAgent
from zermelo.agents.base.settings import check_whole
from zermelo.agents.knowledge.books import book_lines
from zermelo.envs import InvalidSettingError, as_game
from zermelo.envs.support.files import read_file
from zermelo.evaluation.match.live_game import drive_env, play_known
from zermelo.evaluation.match.text import plain
from zermelo.evaluation.schedule import derived_seed

Openings = int | str | os.PathLike[str] | Sequence[Sequence[Any]]
"""How many random plies, a file of openings (``book:FILE`` for an opening book), or the openings themselves."""

_BOOK: Final = "book:"
_BOOK_PLIES: Final = 8
DRY: Final = 200
"""After so many draws that gave nothing new, all openings of that length are taken to be found."""


def openings_for(wanted: Openings | None, env: Any, *, count: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """The openings of a tournament, each seen to be legal; none for None or 0."""
    if wanted is None:
        return ()
    if isinstance(wanted, int):
        check_whole("opening plies", wanted)
        return random_openings(env, plies=wanted, count=count, seed=seed) if wanted else ()
    if (name := str(wanted)).startswith(_BOOK):
        found, where = _from_book(name.removeprefix(_BOOK), env, count=count, seed=seed), f"in {name}"
    elif isinstance(wanted, str | os.PathLike):
        found, where = read_openings(wanted), f"in {os.fspath(wanted)}"
    else:
        found, where = tuple(tuple(plain(action) for action in opening) for opening in wanted), "in openings"
    if not found:
        raise InvalidSettingError(f"there is no opening {where}: give at least one, such as 3,2")
    for number, opening in enumerate(found[:count], start=1):
        refusal = _refusal(env, opening, derived_seed(seed, "opening", number))
        if refusal is not None:
            raise InvalidSettingError(f"opening {number} {where}, {_text(opening)}, {refusal}")
    return found[:count]


def read_openings(path: str | os.PathLike[str]) -> tuple[tuple[Any, ...], ...]:
    """Reads openings: one a line, actions separated by commas; what follows # does not count."""
    try:
        lines = read_file(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InvalidSettingError(f"cannot read the openings in {os.fspath(path)}: {reason}") from None
    openings = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip().strip(",")
        if not text:
            continue
        try:
            openings.append(tuple(plain(action) for action in ast.literal_eval(f"({text},)")))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # of ast
            raise InvalidSettingError(
                f"line {number} of {os.fspath(path)} must be actions separated by commas, such as 3,2,4, "
                f"not {text!r}"
            ) from None
    return tuple(openings)


def random_openings(env: Any, *, plies: int, count: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Different openings of random legal actions, none of which ends the game.

    Args:
        env: A live environment; it is reset.
        plies: The length of an opening, dead agents' steps not counted.
        count: How many are wanted; there are fewer where the game has no more, or they are hard to find.
        seed: Decides them.
    """
    found: dict[tuple[Any, ...], None] = {}
    agent = RandomAgent()
    in_vain = draw = 0
    while len(found) < count and in_vain < DRY:
        draw += 1
        opening_seed = derived_seed(seed, "opening", plies, draw)
        agent.reset(opening_seed)
        driver = drive_env(env, opening_seed)
        actions: list[Any] = []
        while len(actions) < plies and driver.turn() is not None:
            action = agent.act(env)
            actions.append(plain(action))
            driver.step(action)
        opening = tuple(actions)
        if len(opening) < plies or driver.turn() is None or opening in found:
            in_vain += 1
            continue
        refusal = _refusal(env, opening, derived_seed(opening_seed, "again"))
        if refusal is not None:
            raise InvalidSettingError(
                f"random openings need a game in which what is legal does not depend on the environment's own "
                f"chance, but {_text(opening)} {refusal} when the environment is reset with another seed: leave "
                "the openings out, such games differ by their seeds"
            )
        found[opening] = None
        in_vain = 0
    if not found:
        raise InvalidSettingError(
            f"no opening of {plies} plies leaves a game to play: all of {DRY} random games were over by then"
        )
    return tuple(found)


def _from_book(path: str, env: Any, *, count: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    driver = drive_env(env, seed)
    driver.turn()
    game = as_game(env)
    start = game.snapshot(env)
    found = []
    for line in book_lines(path, game, start, count=count, plies=_BOOK_PLIES, seed=seed):
        state, actions = start, []
        for action in line:
            actions.append(plain(game.to_env_action(state, action)))
            state = game.result(state, action)
        found.append(tuple(actions))
    return tuple(found)


def _refusal(env: Any, opening: Sequence[Any], seed: int) -> str | None:
    driver = drive_env(env, seed)
    if (found := play_known(driver, opening)) is not None:
        ply, refusal = found
        return f"{f'plays {refusal}' if refusal else 'goes on after the end of the game'}, at ply {ply}"
    return "leaves nothing to play" if driver.turn() is None else None


def _text(opening: Sequence[Any]) -> str:
    return ",".join(map(str, opening))
