"""Making endgame tables: part after part where the rules number positions, else all that is reached."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from zermelo.agents.base.machine import check_memory
from zermelo.agents.base.requirements import require_plain_game
from zermelo.agents.base.tasks import Tasks
from zermelo.agents.knowledge.endgame_kernel import ABSENT
from zermelo.agents.knowledge.endgame_tables import TABLES, EndgameTable, canonical_key
from zermelo.agents.knowledge.files import name_of
from zermelo.agents.knowledge_building.retrograde import Numbers
from zermelo.agents.knowledge_building.solve_parts import (
    BYTES_A_MOVE,
    BYTES_A_POSITION,
    GroupWork,
    MoveLister,
    PartGroup,
    Solved,
)
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.jit.memory import load_state
from zermelo.envs.position import position
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.fingerprint import code_digest
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flatten_state
from zermelo.envs.support.array_files import Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind

_MB: Final = 1 << 20
_PART: Final = FileKind("part of an endgame table", "it is solved again")


class _PartHeader(msgspec.Struct, frozen=True):
    undecided: int


@dataclass(frozen=True)
class TableProgress:
    """The part that is worked on, positions listed, of how many at most (0: not known), seconds, MiB of memory."""

    part: str
    done: int
    positions: int
    seconds: float
    memory_mb: float


@dataclass(frozen=True)
class PartFigures:
    """Figures of a part of a table: positions by outcome for the player to move, and the longest win in moves."""

    part: str
    won: int
    drawn: int
    lost: int
    longest: int


@dataclass(frozen=True)
class BuiltTable:
    """A table that was made."""

    table: EndgameTable
    figures: tuple[PartFigures, ...]
    undecided: int  # positions without a proven value, as play from them may go round
    seconds: float
    size: int  # bytes of the file


def build_table(
    game: Any,
    path: str | os.PathLike[str],
    *,
    pieces: str | None = None,
    stones: int | None = None,
    empty: int | None = None,
    states: int | None = None,
    memory_mb: float | None = None,
    runner: Any = None,
    on_progress: Callable[[TableProgress], Any] | None = None,
) -> BuiltTable:
    """Makes an endgame table by retrograde analysis, checks every entry, and writes it to a file.

    Finished parts are kept beside the file until all is done: called again, it goes on from there. How large it
    is, says one of ``pieces`` (of chess: the most, or one ending such as ``"KBNK"``), ``stones`` (of Kalah and
    Oware: the most seeds in houses), ``empty`` (the most empty squares) and ``states`` (the most that are
    reached). It may take ``memory_mb``, or half of what is free. A ``runner`` solves parts elsewhere, as
    ``zermelo.evaluation.workers`` do; what ``on_progress`` raises stops the work.

    Raises:
        UnsupportedGameError: The game has no rules, chance, hidden information, or more than two players.
        InvalidSettingError: The game has no such table, or it would not fit into memory or on the disk.
    """
    if memory_mb is not None:
        check_memory("memory_mb", memory_mb)
    root = position(game)
    _require_solvable(root.game)
    rules = root.game.rules
    given = {"pieces": pieces, "stones": stones, "empty": empty, "states": states}
    asked = {name: value for name, value in given.items() if value is not None}
    unit = str(method_or_default(rules, "table_unit")()) if hasattr(rules, "table_part") else "states"
    if len(asked) != 1 or not asked.keys() <= {unit, "states"}:
        raise InvalidSettingError(
            f"a table of {root.game.traits.name} is asked for by {unit} or by states, one of them, and not by "
            f"{' and '.join(asked) or 'nothing'}"
        )
    is_numbered = unit in asked and hasattr(rules, "table_index")
    if not is_numbered and has_history(rules):
        raise UnsupportedGameError(
            f"{root.game.traits.name} has tables by {unit} alone, as repetition counts in it"
        )
    builder = _TableBuilder(root.game, Path(path), memory_mb, on_progress, asked)
    if is_numbered:
        builder.by_parts(str(asked[unit]), runner)
    else:
        builder.by_states(root.state, most=states, empty=empty)
    return builder.finished()


def _require_solvable(game: Any) -> None:
    name = game.traits.name
    require_plain_game(game.traits, "table")
    if not isinstance(game, RulesGame):
        raise UnsupportedGameError(f"{name} has no rules, which endgame tables are made from")
    rules = game.rules
    if method_or_default(rules, "utility_sum")():
        raise UnsupportedGameError(f"{name} has utilities that do not add up to 0")
    is_unknown = hasattr(rules, "repetition_utility") and not hasattr(rules, "table_repetition")
    if has_history(rules) and (is_unknown or method_or_default(rules, "repetition_is_illegal")()):
        raise UnsupportedGameError(f"{name} values repeated positions by the way to them, which no table knows")


class _TableBuilder:
    def __init__(
        self,
        game: RulesGame,
        path: Path,
        memory_mb: float | None,
        on_progress: Callable[[TableProgress], Any] | None,
        asked: dict[str, Any],
    ) -> None:
        self._game, self._rules, self._path, self._asked = game, game.rules, path, asked
        self._memory = _free_memory() / 2 if memory_mb is None else memory_mb * _MB
        self._on_progress = on_progress
        self._started, self._need = time.monotonic(), 0.0
        self._folder = path.with_name(f"{path.name}.{code_digest(self._rules)}.parts")
        self._work = GroupWork(self._rules)
        self._gains = self._work.has_gains
        self._parts: list[tuple[int, int]] = []
        self._scores: list[Numbers] = []
        self._keys = np.zeros(0, np.int64)
        self._undecided = 0

    def by_parts(self, what: str, runner: Any) -> None:
        rules, work = self._rules, self._work
        text = method_or_default(rules, "table_part_text")
        groups = [tuple(group) for group in rules.table_parts(what)]
        sizes = {part: int(rules.table_size(part)) for group in groups for part in group}
        total = sum(sizes.values())
        self._require_room(2 * total, 0)
        sampled = [work.sampled({part: sizes[part] for part in group}) for group in groups]
        at_once = getattr(runner, "workers", None) or 1  # on Ray each machine has memory of its own
        self._require_room(2 * total, sum(sorted(memory for memory, _ in sampled)[-at_once:]))
        needs = {group: leads_to for group, (_, leads_to) in zip(groups, sampled, strict=True)}
        solved = {group: stored for group in groups if (stored := self._stored(group)) is not None}
        scores: dict[int, Numbers] = {}

        def finish(group: tuple[int, ...]) -> None:
            places = np.cumsum([sizes[part] for part in group])[:-1]
            scores.update(zip(group, np.split(solved[group].scores, places, axis=1), strict=True))

        def report(parts: Iterable[int], listed: int) -> None:
            done = sum(map(sizes.__getitem__, scores))
            self._report(", ".join(map(text, parts)), done + listed, total)

        work.report = report
        for group in solved:
            finish(group)
        with contextlib.closing(Tasks(work, runner)) as tasks:
            while left := [group for group in groups if group not in solved]:
                ready = [group for group in left if needs[group] <= scores.keys()]
                if not ready:  # one waits for a part that is none, or for itself
                    raise UnsupportedGameError(
                        f"a move of {self._game.traits.name} leads to a position that its tables do not number"
                    )
                items = [
                    PartGroup({part: sizes[part] for part in group}, {part: scores[part] for part in needs[group]})
                    for group in ready
                ]
                for group, result in zip(ready, tasks.map(items), strict=True):
                    if isinstance(result, Solved):
                        self._folder.mkdir(parents=True, exist_ok=True)
                        about, arrays = {"undecided": result.undecided}, {"scores": result.scores}
                        path = self._folder / f"{group[0]}.npz"
                        write_arrays(path, _PART, 1, about, arrays, is_packed=False)
                        solved[group] = result
                        finish(group)
                        report(group, 0)
                    else:
                        needs[group] |= result
        offsets = np.cumsum([0, *sizes.values()]).tolist()
        self._parts = list(zip(sizes, offsets, strict=False))
        self._scores = [solved[group].scores for group in groups]
        self._undecided = sum(each.undecided for each in solved.values())

    def by_states(self, state: Any, *, most: int | None, empty: int | None) -> None:
        """Solves all positions that can be reached, or those of them with few empty squares."""
        rules = self._rules
        bare = without_past(state)
        expansion = MoveLister(self._game, indexed=False, gains=self._gains)
        frontier = np.array([flatten_state(bare)], np.int64)
        keys = np.array([canonical_key(rules, bare)], np.int64)
        seen = older = keys
        kept: list[Numbers] = []
        rows: list[tuple[Numbers, ...]] = []
        names: list[Numbers] = []
        moves_seen = 0
        while len(frontier):
            is_kept = self._is_kept(frontier, bare, empty)
            kept.append(keys[is_kept])
            new_keys, new_states = [np.zeros(0, np.int64)], [np.zeros((0, frontier.shape[1]), np.int64)]
            for moves in expansion.of_states(frontier):
                here = is_kept[moves.first : moves.first + len(moves.exits)]
                inside = np.repeat(here, moves.counts)
                rows.append((moves.exits[here], moves.counts[here], moves.again[inside], moves.leads[inside]))
                names.append(moves.names[inside])
                moves_seen += len(moves.names)
                fresh, places = np.unique(moves.names, return_index=True)
                is_new = seen[np.minimum(np.searchsorted(seen, fresh), len(seen) - 1)] != fresh
                new_keys.append(fresh[is_new])
                new_states.append(moves.children[places[is_new]])
                self._report("listing", len(seen) + moves.first, 0)
            keys, places = np.unique(np.concatenate(new_keys), return_index=True)
            frontier = np.concatenate(new_states)[places]
            # Squares only fill up: with a pass or two, a state comes again soon if it does.
            older, seen = (seen, np.union1d(keys, seen)) if empty is None else (keys, np.union1d(keys, older))
            if most is not None and len(seen) > most:
                raise InvalidSettingError(
                    f"more than {most:,} states can be reached in {self._game.traits.name}: allow more states, or "
                    "begin later in the game"
                )
            positions = sum(map(len, kept)) + len(keys)
            words = BYTES_A_POSITION + 8 * frontier.shape[1]
            self._require_room(10 * positions, positions * words + moves_seen * BYTES_A_MOVE)
        listed = np.concatenate(kept)
        if not len(listed):
            raise InvalidSettingError(f"no state of {self._game.traits.name} that can be reached has so few empty")
        order = np.argsort(listed)
        self._keys = listed[order]
        children = order[np.searchsorted(self._keys, np.concatenate(names))].astype(np.int32)
        exits, counts, again, leads = (np.concatenate(each) for each in zip(*rows, strict=True))
        solved = self._work.solved([(exits, exits, exits[:0], counts, children, again, leads)])
        self._scores = [solved.scores[:, order]]
        self._undecided = solved.undecided

    def _is_kept(self, frontier: Numbers, like: Any, empty: int | None) -> Numbers:
        if empty is None:
            return np.ones(len(frontier), bool)
        rows, width = np.ascontiguousarray(frontier), 8 * frontier.shape[1]
        states = (load_state(like, rows.ctypes.data + width * row) for row in range(len(rows)))
        return np.array([self._rules.table_part(state) <= empty for state in states], bool)

    def _require_room(self, file: int, memory: int) -> None:
        self._need, most = (file + memory) / _MB, self._memory / _MB
        if self._need > most:
            raise InvalidSettingError(
                f"this table needs about {self._need:,.0f} MiB of memory, and {most:,.0f} may be used: ask for a "
                "smaller one, or allow more memory"
            )
        free = shutil.disk_usage(self._path.absolute().parent).free
        if 2 * file > free:
            raise InvalidSettingError(
                f"this table needs up to {2 * file / _MB:,.0f} MiB on the disk of {os.fspath(self._path)!r}, "
                f"where {free / _MB:,.0f} are free: write it somewhere else"
            )

    def _report(self, part: str, done: int, total: int) -> None:
        if self._on_progress is not None:
            self._on_progress(TableProgress(part, done, total, time.monotonic() - self._started, self._need))

    def _stored(self, group: tuple[int, ...]) -> Solved | None:
        size = sum(int(self._rules.table_size(part)) for part in group)

        def check(about: _PartHeader, shapes: Mapping[str, tuple[int, ...]]) -> None:
            if shapes["scores"] != (1 + self._gains, size):
                raise ValueError("its scores are those of other parts")

        path = self._folder / f"{group[0]}.npz"
        try:
            about, arrays = read_arrays(path, _PART, 1, _PartHeader, {"scores": Form("<i2", 2)}, check)
        except InvalidSettingError:  # there is none yet, or it is solved again
            return None
        return Solved(arrays["scores"], about.undecided)

    def finished(self) -> BuiltTable:
        bounds = np.concatenate(self._scores, axis=1)
        repetition = "draw" if self._work.repetition_draws else "none"
        about = {"gains": self._gains, "asked": self._asked, "repetition": repetition}
        parts = np.array(self._parts, np.int64).reshape(-1, 2)
        arrays = {"scores": bounds[0], "parts": parts, "keys": self._keys}
        if not np.array_equal(bounds[0], bounds[-1]):
            arrays["uppers"] = bounds[1]
        TABLES.write(self._path, self._rules, about, **arrays)
        shutil.rmtree(self._folder, ignore_errors=True)
        seconds = time.monotonic() - self._started
        table = TABLES.read(self._path, self._game)
        figures = _figures_of(table, self._rules)
        return BuiltTable(table, figures, self._undecided, seconds, self._path.stat().st_size)


def _figures_of(table: EndgameTable, rules: Any) -> tuple[PartFigures, ...]:
    if not table.parts:
        return (_figures(name_of(rules), table.scores, table.uppers, table.gains),)
    text, places = method_or_default(rules, "table_part_text"), [part.start for part in table.parts.values()][1:]
    bounds = np.split(table.scores, places), np.split(table.uppers, places)
    return tuple(
        _figures(text(part), lower, upper, table.gains)
        for part, lower, upper in zip(table.parts, *bounds, strict=True)
    )


def _figures(name: str, lower: Numbers, upper: Numbers, has_gains: bool) -> PartFigures:
    won, lost = lower[lower > 0], np.count_nonzero((upper < 0) & (upper != ABSENT))
    longest = 0 if has_gains or not len(won) else (2048 - int(won.min()) + 1) // 2
    return PartFigures(name, len(won), int(np.count_nonzero((lower == 0) & (upper == 0))), int(lost), longest)


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, AttributeError, OSError):
        return 4096.0 * _MB
