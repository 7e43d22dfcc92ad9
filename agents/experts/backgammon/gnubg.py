"""GNU Backgammon as an agent: asked by a position ID how it plays a roll (``gnubg moves 24/18*/14 6/4(2).``).

Source: the GNU Backgammon manual (Wong et al.), "A technical description of the Position ID".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import declared
from zermelo.agents.policies.engines import EngineAgent, EngineError
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import UnknownNameError, UnsupportedGameError
from zermelo.envs.game import CHANCE
from zermelo.envs.games import Backgammon
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.position import position

OFF, BAR = 0, 25


class Level(NamedTuple):
    """How well gnubg plays."""

    plies: int  # moves that it looks beyond its own
    noise: float  # the standard deviation of what is added to each evaluation, in points


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
"""From the weakest upwards; from "beginner" on, gnubg's own predefined settings. A position has its noise once and
for all, so the same seed is the same game."""

Side = tuple[int, ...]  # how many checkers a player has off (0), on its own points 1 to 24, and on the bar (25)


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


_STEPS: Final = re.compile(r"(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?", re.IGNORECASE)


def after_move(own: Side, other: Side, move: str) -> tuple[Side, Side]:
    """The checkers after a move as it is written: ``bar/20 13/11*/9``, ``6/off(2)``; a star is a hit."""
    mine, theirs = list(own), list(other)
    for step in move.split():
        found = _STEPS.fullmatch(step)
        if found is None:
            raise EngineError(f"{step!r} in {move!r} is no move of a checker, such as 13/7, bar/20* or 6/off(2)")
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


class _Questions(TransientState):
    def __init__(self) -> None:
        self.planned: dict[BackgammonState, int] = {}
        self.asked = 0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GnubgAgent(EngineAgent):
    """Plays GNU Backgammon in ``zermelo/Backgammon-v0``: ``gnubg(level="casual")``.

    Attributes:
        level: How well it plays, from ``"noise-1"`` (hardly at all) over ``"beginner"`` to ``"world-class"``.
        seconds: Time that a move may take.
    """

    kind: ClassVar[str] = "gnubg"
    _merges_errors: ClassVar[bool] = True

    path: str = "gnubg"
    level: str = declared("beginner", None, " or ".join(LEVELS))
    seconds: float = 60.0

    _talk: _Questions = field(init=False, default_factory=_Questions)

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise UnknownNameError(f"gnubg has no level {self.level!r} here: there are {', '.join(LEVELS)}")
        super().__post_init__()

    def _arguments(self) -> list[str]:
        return ["-t", "-q", "-r"]

    def _greet(self) -> None:
        plies, noise = LEVELS[self.level]
        evaluation = "set player 0 chequerplay evaluation"
        self._ask(
            "set output rawboard on", "set player 0 gnubg", "set player 1 human", "set automatic game off",
            "set automatic roll off", "set automatic move off", "set automatic bearoff off", "set cube use off",
            "set jacoby off", f"{evaluation} plies {plies}", f"{evaluation} cubeful off",
            f"{evaluation} noise {noise}", f"{evaluation} deterministic on",
        )  # fmt: skip

    def _new_game(self) -> None:
        self._talk.planned.clear()
        self._ask("new session")

    def _ask(self, *commands: str) -> str:
        """The answer to some commands; an unknown one, which it complains of, marks its end."""
        self._talk.asked += 1
        mark = f"zermelo{self._talk.asked}"
        return " ".join(self._answer(*commands, mark, until=lambda line: mark in line, seconds=self.seconds)[:-1])

    @classmethod
    def check_env(cls, env: Any) -> None:
        if type(getattr(as_game(env), "rules", None)) is not Backgammon:
            raise UnsupportedGameError(
                f"gnubg plays backgammon, such as zermelo/Backgammon-v0, and not {game_name(env)}"
            )

    def decide(self, env: Any) -> int:
        self.check_env(env)
        root = position(env)
        game, state = root.game, root.state
        planned = self._talk.planned
        if state in planned:
            return root.number(planned.pop(state))
        plays = whole_plays(game, state)
        path = next(iter(plays.values()))
        if len(plays) > 1:
            own, other = sides(state, state.seat)
            move = self._move(own, other, state.roll >> 3 & 7, state.roll & 7)
            reached = after_move(own, other, move)
            if reached not in plays:
                raise EngineError(f"{self.path} plays {move!r}, which is not legal in {state}")
            path = plays[reached]
        planned.clear()
        if len(path) > 1:
            planned[game.result(state, path[0])] = path[1]
        return root.number(path[0])

    def _move(self, own: Side, other: Side, high_die: int, low_die: int) -> str:
        said = self._ask(
            "set turn 0", f"set board {position_id(own, other)}", f"set dice {high_die} {low_die}", "play"
        )
        if "offers to resign" in said:
            said = self._ask("decline")  # and it plays
        if " wins a " in said:
            self._ask("new session")
        found = re.search(r"gnubg (?:cannot move|moves ([^.]*))\.", said)
        if found is None:
            raise EngineError(f"{self.path} does not say how it plays {high_die}-{low_die}, but {said!r}")
        return (found[1] or "").strip()
