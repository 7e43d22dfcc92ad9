"""Plays GNU Backgammon: money play without cube and Jacoby rule, in points per game.

python scripts/play_gnubg.py --help

``gnubg -t -q -r`` is spoken to on its standard input, and only asked how it plays a roll: the position goes there
as a position ID, the answer comes back as a move (``gnubg moves 24/18*/14 6/4(2).``). Our environment rolls the
dice, knows the rules and keeps the score. Games come in pairs, with the same dice and the seats changed.
``GnubgAgent`` is an agent like any other and can be put into a tournament too.
"""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from zermelo.agents import make_agent
from zermelo.envs import (
    CHANCE,
    InvalidSettingError,
    MissingDependencyError,
    UnknownNameError,
    ZermeloError,
    as_game,
    make,
)
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.evaluation import play_match
from zermelo.evaluation.stats.interval import student_interval

__all__ = ["LEVELS", "Gnubg", "GnubgAgent", "Level", "after_move", "position_id", "whole_plays"]

ENV: Final = "zermelo/Backgammon-v0(most_points=3)"
OFF, BAR, PLACES = 0, 25, 26


class Level(NamedTuple):
    """How well gnubg plays.

    Attributes:
        plies: How many moves it looks beyond its own; its neural net judges what it finds.
        noise: The standard deviation of what is added to each judgement, in points.
    """

    plies: int
    noise: float


LEVELS: Final[Mapping[str, Level]] = MappingProxyType(
    {
        "noise-1": Level(0, 1.0),
        "noise-0.5": Level(0, 0.5),
        "noise-0.2": Level(0, 0.2),
        "noise-0.1": Level(0, 0.1),
        "beginner": Level(0, 0.06),
        "casual": Level(0, 0.05),
        "intermediate": Level(0, 0.04),
        "advanced": Level(0, 0.015),
        "expert": Level(0, 0.0),
        "world-class": Level(2, 0.0),
    }
)
"""From the weakest upwards; from "beginner" on, gnubg's own predefined settings. Noise is drawn anew each time."""


# -- positions and moves ------------------------------------------------------------------------------------------

Side = tuple[int, ...]
"""How many checkers a player has off (0), on its own points 1 to 24, and on the bar (25)."""


def sides(state: BackgammonState, seat: int) -> tuple[Side, Side]:
    """The checkers of the player in a seat, and those of the other one."""

    def side(low: int, high: int) -> Side:
        return (*(low >> 4 * p & 15 for p in range(13)), *(high >> 4 * p & 15 for p in range(13)))

    mover, other = side(state.low, state.high), side(state.other_low, state.other_high)
    return (mover, other) if state.seat == seat else (other, mover)


def position_id(own: Side, other: Side) -> str:
    """The name of a position there, ``own`` to play: for both, the other one first, places 1 to 25 in unary."""
    bits = "".join("1" * count + "0" for side in (other, own) for count in side[1:]).ljust(80, "0")
    key = bytes(int(bits[start : start + 8][::-1], 2) for start in range(0, 80, 8))
    return base64.b64encode(key).decode()[:14]


_STEPS = re.compile(r"(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?", re.IGNORECASE)


def after_move(own: Side, other: Side, move: str) -> tuple[Side, Side]:
    """The checkers after a move as it is written: ``bar/20 13/11*/9``, ``6/off(2)``; a star is a hit.

    Raises:
        InvalidSettingError: It is not written so.
    """
    mine, theirs = list(own), list(other)
    for step in move.split():
        found = _STEPS.fullmatch(step)
        if found is None:
            raise InvalidSettingError(
                f"{step!r} in {move!r} is no move of a checker, such as 13/7, bar/20* or 6/off(2)"
            )
        start = BAR if found[1].lower() == "bar" else int(found[1])
        stops = found[2].lower()[1:].split("/")
        end = OFF if stops[-1].startswith("off") else int(stops[-1].rstrip("*"))
        count = int(found[3] or 1)
        mine[start] -= count
        mine[end] += count
        for stop in stops:
            if stop.endswith("*"):
                theirs[BAR - int(stop[:-1])] -= 1
                theirs[BAR] += 1
    return tuple(mine), tuple(theirs)


def whole_plays(game: Any, state: BackgammonState) -> dict[tuple[Side, Side], tuple[int, ...]]:
    """For each position in which a roll can end, seen by the player to move, the actions that lead there."""
    found: dict[tuple[Side, Side], tuple[int, ...]] = {}
    waiting: list[tuple[BackgammonState, tuple[int, ...]]] = [(state, ())]
    while waiting:
        before, path = waiting.pop()
        for action in game.legal_actions(before):
            after = game.result(before, action)
            if game.is_terminal(after) or game.to_move(after) == CHANCE:
                found.setdefault(sides(after, state.seat), (*path, action))
            else:
                waiting.append((after, (*path, action)))
    return found


# -- gnubg --------------------------------------------------------------------------------------------------------


class GnubgError(ZermeloError):
    """gnubg ended, said nothing for too long, or said something else than a move."""


class Gnubg:
    """A running gnubg that is asked how it plays rolls.

    Args:
        level: How well it plays.
        seed: Of its noise.
        command: The program; by default the one on the path, or where Debian puts it.
        seconds: How long to wait for an answer.

    Raises:
        MissingDependencyError: There is no such program.
    """

    def __init__(self, level: Level, seed: int = 0, command: str | None = None, seconds: float = 60.0) -> None:
        program = shutil.which(command or "gnubg") or (None if command else shutil.which("/usr/games/gnubg"))
        if program is None:
            raise MissingDependencyError(f"{command or 'gnubg'} is not installed: apt-get install gnubg")
        self._seconds = seconds
        self._asked = 0
        self._process = subprocess.Popen(
            [program, "-t", "-q", "-r"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        evaluation = "set player 0 chequerplay evaluation"
        self._ask(
            "set output rawboard on", "set player 0 gnubg", "set player 1 human", "set automatic game off",
            "set automatic roll off", "set automatic move off", "set automatic bearoff off", "set cube use off",
            "set jacoby off", f"set seed {seed % 2**31}", f"{evaluation} plies {level.plies}",
            f"{evaluation} cubeful off", f"{evaluation} noise {level.noise}", f"{evaluation} deterministic off",
            "new session",
        )  # fmt: skip

    def move(self, own: Side, other: Side, high_die: int, low_die: int) -> str:
        """How gnubg plays a roll, as it writes it; nothing if it cannot move.

        Raises:
            GnubgError: It does not say.
        """
        said = self._ask(
            "set turn 0", f"set board {position_id(own, other)}", f"set dice {high_die} {low_die}", "play"
        )
        if "offers to resign" in " ".join(said):
            said = self._ask("decline")  # and it plays
        text = " ".join(said)
        if " wins a " in text:
            self._ask("new session")
        found = re.search(r"gnubg (?:cannot move|moves ([^.]*))\.", text)
        if found is None:
            raise GnubgError(f"gnubg does not say how it plays {high_die}-{low_die}, but {text!r}")
        return (found[1] or "").strip()

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # closed while reading
            for line in self._process.stdout:
                self._lines.put(line.strip())
        self._lines.put(None)

    def _ask(self, *commands: str) -> list[str]:
        """What it says to some commands; an unknown one, which it complains of, marks the end of the answer."""
        self._asked += 1
        mark = f"zermelo{self._asked}"
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what is wrong shows when nothing more comes
            self._process.stdin.write("\n".join((*commands, mark)) + "\n")
            self._process.stdin.flush()
        said: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=self._seconds)
            except queue.Empty:
                raise GnubgError(f"gnubg says nothing for {self._seconds:g} s after {commands[-1]!r}") from None
            if line is None:
                raise GnubgError(f"gnubg ended with status {self._process.wait()} after {commands[-1]!r}")
            if mark in line:
                return said
            said.append(line)


class GnubgAgent:
    """gnubg as an agent for ``zermelo/Backgammon-v0``; it is started when first asked, and once again if it dies.

    Args:
        level: One of ``LEVELS``.
        command: The program; by default gnubg.
    """

    def __init__(self, level: str = "beginner", command: str | None = None) -> None:
        if level not in LEVELS:
            raise UnknownNameError(f"gnubg has no level {level!r} here: there are {', '.join(LEVELS)}")
        self.name = f"gnubg {level}"
        self._level, self._command, self._seed = LEVELS[level], command, 0
        self._running: Gnubg | None = None
        self._planned: dict[BackgammonState, int] = {}

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game. A running gnubg goes on drawing its noise."""
        self._seed = self._seed if seed is None else seed
        self._planned.clear()

    def act(self, env: Any) -> int:
        """The action; for a doublet, gnubg is asked once for both.

        Raises:
            GnubgError: gnubg does not answer, or plays what is not legal.
        """
        game: Any = as_game(env)
        state = game.snapshot(env)
        if state in self._planned:
            return self._planned.pop(state)
        plays = whole_plays(game, state)
        path = next(iter(plays.values()))
        if len(plays) > 1:
            own, other = sides(state, state.seat)
            move = self._ask(own, other, state.roll >> 3 & 7, state.roll & 7)
            reached = after_move(own, other, move)
            if reached not in plays:
                raise GnubgError(f"gnubg plays {move!r}, which is not legal in {state}")
            path = plays[reached]
        if len(path) > 1:
            self._planned = {game.result(state, path[0]): path[1]}
        return path[0]

    def close(self) -> None:
        """Ends gnubg."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def _ask(self, *question: Any) -> str:
        for attempt in range(2):
            if self._running is None:
                self._running = Gnubg(self._level, self._seed, self._command)
            try:
                return self._running.move(*question)
            except GnubgError:
                self.close()
                if attempt:
                    raise
        raise AssertionError("the second attempt returns or raises")


# -- the match ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchResult:
    """Our points against one level, a number a game.

    Attributes:
        agent: Ours.
        level: gnubg's.
        points: What we got in each game; games 2k and 2k + 1 have the same dice.
    """

    agent: str
    level: str
    points: tuple[int, ...]

    @property
    def average(self) -> float:
        """Points per game."""
        return sum(self.points) / len(self.points)

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95 % interval for the points per game, over pairs."""
        return student_interval([sum(pair) / 2 for pair in zip(self.points[::2], self.points[1::2], strict=True)])

    def share(self, least: int, most: int) -> float:
        """The share of games in which we got that many points."""
        return sum(least <= points <= most for points in self.points) / len(self.points)


def play_level(agent: str, level: str, games: int, seed: int, command: str | None = None) -> Iterator[int]:
    """Plays a level; gives our points after each game.

    Raises:
        ZermeloError: An agent failed.
    """
    ours, theirs = make_agent(agent), GnubgAgent(level, command)
    env = make(ENV)
    try:
        for number in range(games):
            seat = number % 2
            record = play_match(env, [theirs, ours] if seat else [ours, theirs], seed=seed + number // 2)
            if record.failure is not None:
                raise GnubgError(f"game {number} failed: {record.failure.message}")
            yield int(record.rewards[seat])
    finally:
        theirs.close()


def table_of(results: list[MatchResult]) -> Table:
    columns = ("level", "plies", "noise", "games", "points per game", "95 %", "wins", "gammons", "gammons lost")
    table = Table(*columns, title=f"{results[0].agent} against gnubg")
    for result in results:
        plies, noise = LEVELS[result.level]
        low, high = result.interval
        table.add_row(
            result.level, str(plies), f"{noise:g}", str(len(result.points)), f"{result.average:+.3f}",
            f"{low:+.3f} to {high:+.3f}", *(f"{result.share(*r):.1%}" for r in ((1, 3), (2, 3), (-3, -2))),
        )  # fmt: skip
    return table


def main(
    levels: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(LEVELS)}; by default the first seven.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Ours.")] = "expectiminimax(depth=1)",
    games: Annotated[int, typer.Option(min=4, help="Against each level; an even number.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of dice and agents.")] = 1,
    gnubg: Annotated[str | None, typer.Option(help="The program, if it is not on the path.")] = None,
    out: Annotated[Path | None, typer.Option(help="A JSON file for all points.")] = None,
) -> None:
    """Plays an agent against gnubg, from its weakest level upwards, in points per game.

    Money play without cube: a win counts one point, a gammon two, a backgammon three. Each pair of games has the
    same dice and the seats changed; the interval is Student's over pairs.

    Example: python scripts/play_gnubg.py noise-0.2 beginner expert --agent "expectiminimax(depth=2)" --games 400
    """
    played: dict[str, list[int]] = {}
    status = 0
    try:
        if games % 2:
            raise InvalidSettingError(f"games must be even, as they come in pairs, not {games}")
        console = Console(stderr=True)
        with Progress(console=console, disable=not console.is_terminal) as bar:
            for level in levels or list(LEVELS)[:7]:
                task = bar.add_task(level, total=games)
                points = played.setdefault(level, [])
                for won in play_level(agent, level, games, seed, gnubg):
                    points.append(won)
                    said = f"{level} {sum(points) / len(points):+.3f}"
                    bar.update(task, advance=1, description=said)
                    if not console.is_terminal and len(points) % 20 == 0:
                        print(f"{said}, {len(points)} of {games} games", file=sys.stderr, flush=True)
    except ZermeloError as error:
        print(f"play_gnubg: {error}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = 130
    pairs = {level: points[: len(points) // 2 * 2] for level, points in played.items()}
    results = [MatchResult(agent, level, tuple(points)) for level, points in pairs.items() if len(points) > 3]
    if results:
        wide = Console()
        (wide if wide.is_terminal else Console(width=120)).print(table_of(results))
        if out is not None:
            out.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    if status:
        raise typer.Exit(status)


if __name__ == "__main__":
    typer.run(main)
