"""Openings: the actions that games begin with before the agents take over.

They make deterministic agents play different games. Every opening is played once from each seat, so that what it
gives to a seat it gives to every agent of a pairing. In a game with chance an opening is the actions, not the
position that they lead to: that depends on the game's own seed too. Openings that begin at a position of their own
are games of another start: their environment is that of the tournament with that ``fen``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from zermelo.agents.base.settings import check_whole
from zermelo.agents.baselines import RandomAgent
from zermelo.agents.knowledge.books import book_lines
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import IllegalActionError, InvalidSettingError
from zermelo.envs.games import Chess
from zermelo.envs.live.wrappers import innermost
from zermelo.envs.registration.make import make
from zermelo.envs.rules.env import RulesEnv
from zermelo.envs.support.spec_text import Spec, parse_spec
from zermelo.evaluation.match.live_game import EnvDriver, drive_env, play_known
from zermelo.evaluation.match.sources import EnvSource, env_name
from zermelo.evaluation.match.text import plain, shown
from zermelo.evaluation.positions.moves import game_or_none, play_moves
from zermelo.evaluation.schedule import derived_seed
from zermelo.evaluation.tournament.opening_files import WrittenOpening, opening_text, read_openings

Openings = int | str | os.PathLike[str] | Sequence[Sequence[Any] | str]
"""How many random plies, a file of openings (``book:FILE`` for an opening book), or the openings themselves."""

_BOOK: Final = "book:"
_BOOK_PLIES: Final = 8
DRY: Final = 200
"""After so many draws that gave nothing new, all openings of that length are taken to be found."""
CHECKED: Final = 200
"""So many openings of a file are played through before the first game, however few games there are."""


class Opening(NamedTuple):
    """What a game begins with.

    Attributes:
        actions: As ``env.step`` takes them.
        fen: The position before them; empty for the start of the environment's game.
    """

    actions: tuple[Any, ...]
    fen: str = ""


class RunOpenings(NamedTuple):
    """The openings of a run, in the order in which they are played, and whether no others were given."""

    openings: tuple[Opening, ...] = ()
    are_all: bool = True


_NONE: Final = RunOpenings()


def require_openings(wanted: Openings | None, stored: RunOpenings = _NONE) -> None:
    """Refuses a file of openings that cannot be read, unless the run that goes on has them."""
    if not isinstance(wanted, str | os.PathLike) or os.fspath(wanted).startswith(_BOOK):
        return
    if not stored.openings or Path(wanted).exists():
        opening_text(wanted)


def openings_for(
    wanted: Openings | None,
    source: EnvSource,
    env: Any,
    *,
    count: int,
    seed: int,
    plies: int | None = None,
    stored: RunOpenings = _NONE,
) -> RunOpenings:
    """The openings of a tournament, each different and seen to be legal; none for None or 0.

    Args:
        wanted: What was asked for.
        source: What makes the environment.
        env: One that it has made; it is reset.
        count: How many are needed, at most.
        seed: Of the tournament.
        plies: The first so many plies of each opening of a file, a book or a list.
        stored: Those of the run that goes on, which stand in for a file that is gone.
    """
    if plies is not None:
        check_whole("opening plies", plies, lower=1)
    if wanted is None:
        return _NONE
    if isinstance(wanted, int):
        check_whole("opening plies", wanted)
        if plies is not None:
            raise InvalidSettingError(
                f"give a number of random plies ({wanted}) or opening_plies ({plies}), not both"
            )
        lines = random_openings(env, plies=wanted, count=count, seed=seed) if wanted else ()
        return RunOpenings(tuple(map(Opening, lines)))
    checker = _Checker(source, env, seed, plies)
    if isinstance(wanted, str | os.PathLike):
        name = os.fspath(wanted)
        where = f"in {name}"
        if name.startswith(_BOOK):
            path = name.removeprefix(_BOOK)
            written = _listed(_from_book(path, env, count=count, seed=seed, plies=plies or _BOOK_PLIES), where)
        elif stored.openings and not Path(name).exists():
            if count > len(stored.openings) and not stored.are_all:
                raise InvalidSettingError(
                    f"{name} is gone, and the run has {len(stored.openings)} of its openings, where {count} may "
                    "be needed: put it back, or ask for no more games"
                )
            written, checker = _of_run(stored.openings), replace(checker, plies=None)
        else:
            drive_env(env, seed).turn()  # its game can be asked for from now on
            written = read_openings(name, functools.partial(_rules_of, env), plies)
    elif isinstance(wanted, Iterable):
        where = "in openings"
        written = _listed(wanted, where)
    else:
        raise InvalidSettingError(f"openings are a number of plies, a file or a list, not {shown(wanted, 40)}")
    openings = _checked(written, checker, count)
    if not openings.openings:
        raise InvalidSettingError(f"there is no opening {where}: give at least one, such as 3,2")
    return openings


def _checked(written: Iterable[WrittenOpening], checker: _Checker, count: int) -> RunOpenings:
    """The first so many different openings, after a look at some more."""
    openings = dict[Opening, None]()
    for number, one in enumerate(written, start=1):
        openings[checker.played(one, number)] = None
        if number >= CHECKED and len(openings) >= count:
            return RunOpenings(tuple(openings)[:count], are_all=False)
    return RunOpenings(tuple(openings)[:count], len(openings) <= count)


def spec_at(source: str, fen: str) -> str:
    """The environment that begins at a position of its game."""
    spec = parse_spec(source)
    return str(Spec(spec.name, {**spec.arguments, "fen": fen}))


def _listed(openings: Iterable[Any], where: str) -> Iterator[WrittenOpening]:
    for number, opening in enumerate(openings, start=1):
        if not isinstance(opening, Iterable):
            raise InvalidSettingError(
                f"opening {number} {where} is a list of actions or a line of moves, not {shown(opening, 40)}"
            )
        moves = opening if isinstance(opening, str) else tuple(plain(action) for action in opening)
        yield WrittenOpening(f"opening {number} {where}", moves)


def _of_run(openings: Sequence[Opening]) -> Iterator[WrittenOpening]:
    for number, opening in enumerate(openings, start=1):
        yield WrittenOpening(f"opening {number} of the run", opening.actions, opening.fen)


def _rules_of(env: Any) -> Any:
    return getattr(game_or_none(env), "rules", None)


@dataclass(frozen=True)
class _Checker:
    """Plays openings as they are written, to see that they are legal and leave something to play."""

    source: EnvSource
    env: Any
    seed: int
    plies: int | None

    def played(self, written: WrittenOpening, number: int) -> Opening:
        """The opening; ``number`` counts from 1."""
        fen = self._start(written)
        env = make(spec_at(self.source, fen)) if fen else self.env
        driver = drive_env(env, derived_seed(self.seed, "opening", number))
        if isinstance(written.moves, str):
            actions = self._read(driver, written)
        else:
            plies = None if self.plies is None else self.plies + written.setup
            actions, name = written.moves[:plies], f"{written.where}, {_text(written.moves[:plies])},"
            if (refusal := _refusal(driver, actions)) is not None:
                raise InvalidSettingError(f"{name} {refusal}")
        if driver.turn() is None:
            raise InvalidSettingError(
                f"{written.where} leaves nothing to play, as the game is over after {len(actions)} plies: take "
                "fewer with --opening-plies (opening_plies=)"
            )
        return Opening(actions, fen)

    def _read(self, driver: EnvDriver, written: WrittenOpening) -> tuple[Any, ...]:
        try:
            return tuple(map(plain, play_moves(driver, str(written.moves), written.where, self.plies)))
        except IllegalActionError as error:
            raise InvalidSettingError(str(error)) from None

    def _start(self, written: WrittenOpening) -> str:
        """The position that an opening begins at, in FEN; nothing where the environment's game begins there."""
        if not written.fen:
            return ""
        try:
            fen = Chess(written.fen).fen
        except InvalidSettingError as error:
            raise InvalidSettingError(f"{written.where} has no position that can be played: {error}") from None
        if fen.split()[:4] == self._own_start.split()[:4]:
            return ""
        if not isinstance(self.source, str) or not isinstance(innermost(self.env), RulesEnv):
            raise InvalidSettingError(
                f"{written.where} begins at {fen}, and {env_name(self.source)} cannot be set to a position: play "
                "in zermelo/Chess-v0, which can"
            )
        return fen

    @functools.cached_property
    def _own_start(self) -> str:
        return str(_rules_of(self.env).fen)


def random_openings(env: Any, *, plies: int, count: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Different openings of random legal actions, none of which ends the game.

    Args:
        env: A live environment; it is reset.
        plies: The length of an opening, dead agents' steps not counted.
        count: How many are wanted; there are fewer where the game has no more, or they are hard to find.
        seed: Decides them.
    """
    openings: dict[tuple[Any, ...], None] = {}
    agent = RandomAgent()
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
        if len(opening) < plies or driver.turn() is None or opening in openings:
            in_vain += 1
            continue
        again = drive_env(env, derived_seed(opening_seed, "again"))
        refusal = _refusal(again, opening) or ("leaves nothing to play" if again.turn() is None else None)
        if refusal is not None:
            raise InvalidSettingError(
                f"random openings need a game in which what is legal does not depend on the environment's own "
                f"chance, but {_text(opening)} {refusal} when the environment is reset with another seed: leave "
                "the openings out, such games differ by their seeds"
            )
        openings[opening] = None
        in_vain = 0
    if not openings:
        raise InvalidSettingError(
            f"no opening of {plies} plies leaves a game to play: all of {DRY} random games were over by then"
        )
    return tuple(openings)


def _from_book(path: str, env: Any, *, count: int, seed: int, plies: int) -> Iterator[tuple[Any, ...]]:
    driver = drive_env(env, seed)
    driver.turn()
    game = as_game(env)
    start = game.snapshot(env)
    for line in book_lines(path, game, start, count=count, plies=plies, seed=seed):
        state, actions = start, []
        for action in line:
            actions.append(plain(game.to_env_action(state, action)))
            state = game.result(state, action)
        yield tuple(actions)


def _refusal(driver: EnvDriver, opening: Sequence[Any]) -> str | None:
    if (stopped := play_known(driver, opening)) is not None:
        ply, refusal = stopped
        return f"{f'plays {refusal}' if refusal else 'goes on after the end of the game'}, at ply {ply}"
    return None


def _text(opening: Sequence[Any]) -> str:
    return ",".join(map(str, opening))
