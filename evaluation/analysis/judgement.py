"""The judge's table: moves counted by agent and phase, optimal ones, regret, blunders.

A move is optimal if no other has a higher value; its regret is the highest value less its own, in the game's own
rewards. A blunder throws a won position away, or loses a drawn one; a position is won if its value is above half
the sum of the rewards. With chance values are expectations, and there are no blunders. Values are for the mover.
"""

from __future__ import annotations

import enum
import itertools
import math
import operator
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.envs.support.files import read_file
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.text import finite, printable
from zermelo.evaluation.stats.score_interval import INTERVAL, wilson_interval
from zermelo.evaluation.text_table import TextTable

EQUAL: Final = 1e-9  # values that differ by less are equal: sums of probabilities are rounded


class Phase(enum.StrEnum):
    """Which third of the game."""

    OPENING = "opening"
    MIDDLE = "middle"
    END = "end"


class Mark(enum.StrEnum):
    """The judge's mark of a move; one letter, because files have many."""

    OPTIMAL = "o"
    MISTAKE = "m"  # the outcome stays what it was
    DRAW_THROWN_AWAY = "d"
    WIN_THROWN_AWAY = "w"


def mark_of(best: float, played: float, draw: float | None) -> Mark:
    if best - played <= EQUAL:
        return Mark.OPTIMAL
    if draw is not None and best > draw + EQUAL >= played:
        return Mark.WIN_THROWN_AWAY
    if draw is not None and abs(best - draw) <= EQUAL and played < draw - EQUAL:
        return Mark.DRAW_THROWN_AWAY
    return Mark.MISTAKE


@dataclass
class Judgements:
    """Counts over judged moves."""

    judged: int = 0
    mattered: int = 0  # in positions where actions differ in value
    optimal: int = 0
    regret: float = 0.0  # what they gave away together, in rewards
    wins_thrown_away: int = 0
    draws_thrown_away: int = 0

    @property
    def optimal_share(self) -> float:
        return self.optimal / self.judged if self.judged else math.nan

    @property
    def mean_regret(self) -> float:
        return self.regret / self.judged if self.judged else math.nan

    @property
    def mattered_share(self) -> float:
        mistakes = self.judged - self.optimal
        return (self.mattered - mistakes) / self.mattered if self.mattered else math.nan

    @property
    def mattered_interval(self) -> tuple[float, float]:
        """Its confidence interval (Wilson), the moves taken as independent; (0, 1) if there are none."""
        return wilson_interval(self.mattered_share, self.mattered) if self.mattered else (0.0, 1.0)

    def add(self, best: float, played: float, mark: Mark, *, matters: bool) -> None:
        """Counts a move, by values for the mover; whether it ``matters`` is whether actions differ in value."""
        self.judged += 1
        self.mattered += matters
        self.optimal += mark is Mark.OPTIMAL
        self.regret += 0.0 if mark is Mark.OPTIMAL else best - played
        self.wins_thrown_away += mark is Mark.WIN_THROWN_AWAY
        self.draws_thrown_away += mark is Mark.DRAW_THROWN_AWAY

    def __add__(self, other: Judgements) -> Judgements:
        return Judgements(*map(operator.add, astuple(self), astuple(other)))


@dataclass
class AgentJudgement:
    """One agent's moves."""

    agent: str
    games: int = 0  # in which at least one of its moves was looked at
    unjudged: int = 0  # moves in positions that could not be proven, forced ones left out
    phases: Mapping[Phase, Judgements] = field(default_factory=lambda: {phase: Judgements() for phase in Phase})
    shared: int = 0  # positions where it mattered that all the agents had to move in
    shared_optimal: float = 0.0  # its optimal moves there, each position counting as one

    @property
    def shared_share(self) -> float:
        return self.shared_optimal / self.shared if self.shared else math.nan

    @property
    def total(self) -> Judgements:
        return sum(self.phases.values(), Judgements())


@dataclass(frozen=True, kw_only=True)
class JudgeTable:
    """The judge's table; ``print`` shows it."""

    env: str
    agents: tuple[AgentJudgement, ...]  # the fewest mistakes first
    games: int
    nodes: int  # the budget for the position after each action
    compiled: bool = False  # whether compiled search spent it
    has_blunders: bool = True  # whether outcomes are certain
    notes: tuple[str, ...] = ()

    def agent(self, name: str) -> AgentJudgement:
        return next(line for line in self.agents if line.agent == name)

    @property
    def about(self) -> str:
        return (
            f"Moves with a choice, of {self.games:,} games, where the value of every action could be proven "
            f"within {self.nodes:,} nodes{' (compiled)' if self.compiled else ''}. Regret is what a move gave "
            "away, in rewards. A win thrown away is a move that no longer wins a won position, a draw thrown away "
            "one that loses a drawn position. Phases are thirds of a game. A move matters where actions differ in "
            "value; agents are ranked by their share of optimal moves among these, and are best compared in the "
            "positions that all of them met. optimal, opening, middle and end are in %."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; what is not known is None."""
        agents = []
        for line in self.agents:
            total, shares = line.total, ("optimal_share", "mean_regret", "mattered_share")
            data = {"agent": line.agent, "games": line.games, **vars(total), "unjudged": line.unjudged}
            data |= {name: finite(getattr(total, name)) for name in shares}
            data |= {"mattered_interval": list(total.mattered_interval), "shared": line.shared}
            phases = [{"phase": str(phase), **vars(part)} for phase, part in line.phases.items()]
            agents.append(data | {"shared_share": finite(line.shared_share), "phases": phases})
        return {
            "env": self.env, "games": self.games, "nodes": self.nodes, "compiled": self.compiled,
            "has_blunders": self.has_blunders, "about": self.about, "notes": list(self.notes), "agents": agents,
        }  # fmt: skip

    def __str__(self) -> str:
        tables = [table.text() for table in judge_tables(self.to_dict()).values()]
        about = textwrap.fill(self.about, 100)
        notes = "".join(f"\nNote: {note}" for note in self.notes)
        return printable("\n\n".join([f"{self.env}: compared with perfect play", *tables, about]) + notes)


def judge_tables(judged: Mapping[str, Any]) -> dict[str, TextTable]:
    """The tables of ``JudgeTable.to_dict``, by their captions."""
    blunders = ("wins", "draws") if judged["has_blunders"] else ()
    moves, mattered = [], []
    for line in judged["agents"]:
        regret = "" if line["mean_regret"] is None else f"{line['mean_regret']:.3g}"
        counted = [f"{line[kind]:,}" for kind in ("judged", "unjudged")]
        cells = [line["agent"], *counted, _percent(line["optimal_share"]), regret]
        parts = [part["optimal"] / part["judged"] if part["judged"] else None for part in line["phases"]]
        moves.append([*cells, *(f"{line[f'{kind}_thrown_away']:,}" for kind in blunders), *map(_percent, parts)])
        ends = " - ".join(map(_percent, line["mattered_interval"])) if line["mattered"] else ""
        shared = [f"{line['shared']:,}", _percent(line["shared_share"])]
        mattered.append([line["agent"], f"{line['mattered']:,}", _percent(line["mattered_share"]), ends, *shared])
    columns = ["agent", "judged", "not judged", "optimal", "regret", *(f"{kind} thrown" for kind in blunders)]
    of_mattered = ["agent", "moves that matter", "optimal", INTERVAL, "in shared positions", "optimal"]
    return {
        "Moves against perfect play": TextTable([*columns, *(Phase if moves else ())], moves),
        "Moves that matter": TextTable(of_mattered, mattered),
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


class MoveVerdict(msgspec.Struct, frozen=True, array_like=True):
    """A judged move."""

    ply: int  # its index in ``GameRecord.actions``
    played: int
    mark: Mark
    groups: list[tuple[float, list[int]]]  # exact values, the best first, each with its actions
    position: str = ""  # tells positions apart

    @classmethod
    def of(cls, ply: int, played: int, mark: Mark, values: Mapping[int, float], position: str) -> MoveVerdict:
        ranked = sorted(values, key=lambda action: (-values[action], action))
        groups = itertools.groupby(ranked, key=values.__getitem__)
        return cls(ply, played, mark, [(value, [*same]) for value, same in groups], position)

    def __post_init__(self) -> None:
        if self.played not in self.values:
            raise ValueError("a move without a value")

    @property
    def values(self) -> Mapping[int, float]:
        return {action: value for value, actions in self.groups for action in actions}


class GameVerdict(msgspec.Struct, frozen=True, rename={"game_id": "game"}):
    """The judged moves of a game, in order."""

    game_id: str
    seed: int
    moves: tuple[MoveVerdict, ...]
    unjudged: tuple[int, ...] = ()  # counts of other moves with a choice, by seat
    has_blunders: bool = True  # as in ``JudgeTable``, and so is compiled
    compiled: bool = False
    of: str = ""  # tells the game and the judge's settings from others

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, line: str) -> GameVerdict:
        try:
            return msgspec.json.decode(line, type=cls)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"not what the judge found of a game ({error}): {line[:80]!r}") from error


def read_verdicts(path: Path, wanted: Collection[str] | None = None) -> dict[str, GameVerdict]:
    """The verdicts of a file on the wanted games, or on all, by id; none if there is no file."""
    try:
        *lines, _ = read_file(path).decode("utf-8", "replace").split("\n")  # a kill may have cut the last one
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}; run `zermelo judge` again") from error
    verdicts = {}
    for number, line in enumerate(lines, start=1):
        try:
            verdict = GameVerdict.from_json(line)
        except StoreError as error:
            raise StoreError(f"{path}, line {number}: {error}; run `zermelo judge` again") from error
        if wanted is None or verdict.game_id in wanted:
            verdicts[verdict.game_id] = verdict
    return verdicts
