"""Openings: the actions that games begin with before the agents take over.

They make deterministic agents play different games. Every opening is played once from each seat, so that what it
gives to a seat it gives to every agent of a pairing. In a game with chance an opening is the actions, not the
position that they lead to: that depends on the game's own seed too. Openings that begin at a position of their own
are games of another start: their environment is that of the tournament with that ``fen``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from zermelo.agents.baselines import RandomAgent
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.spec_text import Spec, parse_spec
from zermelo.evaluation.match.live_game import EnvDriver, drive_env, play_known
from zermelo.evaluation.match.text import plain
from zermelo.evaluation.schedule import derived_seed

Openings = int | str | os.PathLike[str] | Sequence[Sequence[Any] | str]
"""How many random plies, a file of openings (``book:FILE`` for an opening book), or the openings themselves."""

DRY: Final = 200
"""After so many draws that gave nothing new, all openings of that length are taken to be found."""


_SHOWN: Final = 40
_WIDTH: Final = 120


class Opening(NamedTuple):
    """What a game begins with."""

    actions: tuple[Any, ...]  # as ``env.step`` takes them
    fen: str = ""  # the position before them; empty for the start of the environment's game


class RunOpenings(NamedTuple):
    """The openings of a run, in the order in which they are played, and whether no others were given."""

    openings: tuple[Opening, ...] = ()
    are_all: bool = True


def spec_at(source: str, fen: str) -> str:
    """The environment that begins at a position of its game."""
    spec = parse_spec(source)
    return str(Spec(spec.name, {**spec.arguments, "fen": fen}))


def random_openings(env: Any, *, plies: int, count: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Different openings of random legal actions, none of which ends the game.

    Args:
        env: A live environment; it is reset.
        plies: The length of an opening, dead agents' steps not counted.
        count: How many are wanted; there are fewer where the game has no more, or they are hard to find.
        seed: Decides them.
    """
    openings, agent = dict[tuple[Any, ...], None](), RandomAgent()
    in_vain = draw = 0
    while len(openings) < count and in_vain < DRY:
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
        in_vain += 1
        if len(opening) < plies or driver.turn() is None or opening in openings:
            continue
        again = drive_env(env, derived_seed(opening_seed, "again"))
        refusal = refusal_of(again, opening) or ("leaves nothing to play" if again.turn() is None else None)
        if refusal is not None:
            raise InvalidSettingError(
                f"random openings need a game in which what is legal does not depend on the environment's own "
                f"chance, but {text_of(opening)} {refusal} when the environment is reset with another seed: leave "
                "the openings out, such games differ by their seeds"
            )
        openings[opening] = None
        in_vain = 0
    if not openings:
        raise InvalidSettingError(
            f"no opening of {plies} plies leaves a game to play: all of {DRY} random games were over by then"
        )
    return tuple(openings)


def refusal_of(driver: EnvDriver, opening: Sequence[Any]) -> str | None:
    if (stopped := play_known(driver, opening)) is not None:
        ply, refusal = stopped
        return f"{f'plays {refusal}' if refusal else 'goes on after the end of the game'}, at ply {ply}"
    return None


def text_of(opening: Sequence[Any]) -> str:
    """The actions of an opening as a sentence shows them, of many the first."""
    text = ",".join(map(str, opening[:_SHOWN]))
    return text if len(opening) <= _SHOWN and len(text) <= _WIDTH else f"{text[:_WIDTH]}..."
