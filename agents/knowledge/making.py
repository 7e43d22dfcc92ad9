"""Making endgame tables: part after part where the rules number positions, else all that is reached."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.core.endgame_tables import ABSENT, KIND, EndgameTable, canonical_key, read_table
from zermelo.agents.core.gate import require_plain_game
from zermelo.agents.core.knowledge_files import fingerprint, name_of, write_knowledge
from zermelo.agents.knowledge.expansion import Expansion, Moves
from zermelo.agents.knowledge.retrograde import (
    UNUSED,
    Graph,
    Numbers,
    gains,
    inconsistent,
    moved_back,
    outcomes,
)
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.files import replaced
from zermelo.envs.jit.memory import load_state
from zermelo.envs.position import position
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat

_BYTES_A_POSITION: Final = 40
_BYTES_A_MOVE: Final = 50
_SAMPLES: Final = 64
"""Runs of numbers in each part, drawn at random, from which the memory that it takes is estimated."""
_SAMPLE: Final = 256
_MB: Final = 1 << 20


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
class MadeTable:
    """A table that was made."""

    table: EndgameTable
    figures: tuple[PartFigures, ...]
    undecided: int  # positions without a proven value, as play from them may go round
    seconds: float
    size: int  # bytes of the file


def make_table(
    game: Any,
    path: str | os.PathLike[str],
    *,
    pieces: str | None = None,
    stones: int | None = None,
    empty: int | None = None,
    states: int | None = None,
    memory_mb: float | None = None,
    on_progress: Callable[[TableProgress], Any] | None = None,
) -> MadeTable:
    """Makes an endgame table by retrograde analysis, checks every entry, and writes it to a file.

    Finished parts are kept beside the file until all is done: called again, it goes on from there.

    Args:
        game: A game of rules for two players with a sum of 0, an environment with such rules, or its name.
        path: The file, which usually ends in ``.ztable``.
        pieces: Of chess: the most pieces, or one ending such as ``"KBNK"`` and all that it leads to.
        stones: Of Kalah and Oware: the most seeds in houses.
        empty: The most empty squares, of positions reached from the state.
        states: The most states that are reached; all of them are in the table.
        memory_mb: Memory in MiB; by default half of what is free.
        on_progress: Called as it goes on; what it raises stops the work.

    Raises:
        UnsupportedGameError: The game has no rules, chance, hidden information, or more than two players.
        InvalidSettingError: The game has no such table, or it would not fit into memory or on the disk.
    """
    root = position(game)
    require_plain_game(root.game.traits, "table")
    if not isinstance(root.game, RulesGame):
        raise UnsupportedGameError(f"{root.game.traits.name} has no rules, which endgame tables are made from")
    rules = root.game.rules
    if method_or_default(rules, "utility_sum")():
        raise UnsupportedGameError(f"{root.game.traits.name} has utilities that do not add up to 0")
    is_unknown = hasattr(rules, "repetition_utility") and not hasattr(rules, "table_repetition")
    if has_history(rules) and (is_unknown or method_or_default(rules, "repetition_is_illegal")()):
        raise UnsupportedGameError(
            f"{root.game.traits.name} values repeated positions by the way to them, which no table knows"
        )
    given = {"pieces": pieces, "stones": stones, "empty": empty, "states": states}
    asked = {name: value for name, value in given.items() if value is not None}
    unit = str(method_or_default(rules, "table_unit")()) if hasattr(rules, "table_part") else "states"
    if len(asked) != 1 or not asked.keys() <= {unit, "states"}:
        raise InvalidSettingError(
            f"a table of {root.game.traits.name} is asked for by {unit} or by states, one of them, and not by "
            f"{' and '.join(asked) or 'nothing'}"
        )
    [(name, value)] = asked.items()
    making = _Making(root.game, Path(path), memory_mb, on_progress, {name: value})
    numbered = name == unit and hasattr(rules, "table_index")
    if not numbered and has_history(rules):
        raise UnsupportedGameError(
            f"{root.game.traits.name} has tables by {unit} alone, as repetition counts in it"
        )
    if numbered:
        making.by_parts(str(value))
    else:
        making.by_states(root.state, most=states, empty=empty)
    return making.finished()


class _Making:
    def __init__(
        self,
        game: RulesGame,
        path: Path,
        memory_mb: float | None,
        on_progress: Callable[[TableProgress], Any] | None,
        about: dict[str, Any],
    ) -> None:
        self._game, self._rules, self._path, self._about = game, game.rules, path, about
        self._memory = _free_memory() / 2 if memory_mb is None else memory_mb * _MB
        self._on_progress = on_progress
        self._started, self._need = time.monotonic(), 0.0
        self._folder = path.with_name(f"{path.name}.{fingerprint(self._rules)}.parts")
        bounds = method_or_default(self._rules, "utility_bounds")()
        self._gains = hasattr(self._rules, "table_lead") or tuple(bounds) != (-1, 1)
        self._repeats = hasattr(self._rules, "table_repetition")
        self._draws = has_history(self._rules) and not self._repeats
        self._parts: list[tuple[int, int]] = []
        self._scores: list[Numbers] = []
        self._keys = np.zeros(0, np.int64)
        self._undecided = 0

    def by_parts(self, what: str) -> None:
        rules = self._rules
        groups = [tuple(group) for group in rules.table_parts(what)]
        sizes = {part: int(rules.table_size(part)) for group in groups for part in group}
        total = sum(sizes.values())
        self._require_room(2 * total, 0)
        expansion = Expansion(self._game, indexed=True, gains=self._gains)
        self._require_room(2 * total, max(_memory_for(expansion, group, sizes) for group in groups))
        done = 0
        for group in groups:
            found = self._kept(group)
            if found is None:
                found = self._group(expansion, group, sizes, done, total)
                self._keep(group, found)
            for part in group:
                self._parts.append((part, done))
                done += sizes[part]
            self._scores.append(found)

    def _group(
        self, expansion: Expansion, group: tuple[int, ...], sizes: dict[int, int], done: int, total: int
    ) -> Numbers:
        local: dict[int, int] = {}
        for part in group:
            local[part] = sum(sizes[each] for each in local)
        known = dict(self._parts)
        before = np.concatenate(self._scores, axis=1) if self._scores else np.zeros((1, 0), np.int16)
        found: list[tuple[Numbers, ...]] = []
        text = ", ".join(method_or_default(self._rules, "table_part_text")(part) for part in group)
        self._report(text, done, total)
        for part in group:
            for moves in expansion.of_part(part, sizes[part]):
                found.append(self._inner(moves, local, known, before))
                self._report(text, done + local[part] + moves.first, total)
        return self._solved(text, found)

    def _inner(
        self, moves: Moves, local: dict[int, int], known: dict[int, int], before: Numbers
    ) -> tuple[Numbers, ...]:
        """Moves inside the group; what the others lead to is known, and becomes an exit."""
        rows = np.repeat(np.arange(len(moves.exits)), moves.counts)
        children = moves.children[:, 0]
        inside = np.zeros(len(rows), bool)
        exits, uppers = moves.exits, moves.exits.copy()
        for part in np.unique(moves.names).tolist():
            those = moves.names == part
            if part in local:
                children[those] += local[part]
                inside |= those
                continue
            if part not in known:
                raise UnsupportedGameError(
                    f"a move of {self._game.traits.name} leads to a position that its tables do not number"
                )
            scores = before[:, known[part] + children[those]].astype(np.int64)
            again = moves.again[those]
            if self._gains:
                lower, upper = moves.leads[those] + np.where(again, scores, -scores[::-1])
                np.maximum.at(uppers, rows[those], upper)
            else:
                lower = moved_back(scores[0], again)
                lower[scores[0] == ABSENT] = 0  # it goes round for ever
            np.maximum.at(exits, rows[those], lower)
        counts = np.bincount(rows[inside], minlength=len(exits))
        inner = children[inside].astype(np.int32), moves.again[inside], moves.leads[inside].astype(np.int16)
        return exits, uppers, moves.repeats, counts, *inner

    def by_states(self, state: Any, *, most: int | None, empty: int | None) -> None:
        """Solves all positions that can be reached, or those of them with few empty squares."""
        rules = self._rules
        bare = without_past(state)
        expansion = Expansion(self._game, indexed=False, gains=self._gains)
        frontier = np.array([flat(bare)], np.int64)
        keys = np.array([canonical_key(rules, bare)], np.int64)
        seen = older = keys
        kept: list[Numbers] = []
        found: list[tuple[Numbers, ...]] = []
        names: list[Numbers] = []
        moves_seen = 0
        while len(frontier):
            is_kept = self._is_kept(frontier, bare, empty)
            kept.append(keys[is_kept])
            new_keys, new_states = [np.zeros(0, np.int64)], [np.zeros((0, frontier.shape[1]), np.int64)]
            for moves in expansion.of_states(frontier):
                here = is_kept[moves.first : moves.first + len(moves.exits)]
                inside = np.repeat(here, moves.counts)
                found.append((moves.exits[here], moves.counts[here], moves.again[inside], moves.leads[inside]))
                names.append(moves.names[inside])
                moves_seen += len(moves.names)
                fresh, places = np.unique(moves.names, return_index=True)
                is_new = ~_among(fresh, seen)
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
            words = _BYTES_A_POSITION + 8 * frontier.shape[1]
            self._require_room(10 * positions, positions * words + moves_seen * _BYTES_A_MOVE)
        listed = np.concatenate(kept)
        if not len(listed):
            raise InvalidSettingError(f"no state of {self._game.traits.name} that can be reached has so few empty")
        order = np.argsort(listed)
        self._keys = listed[order]
        number = np.concatenate(names)
        children = order[np.searchsorted(self._keys, number)].astype(np.int32)
        parts: list[Any] = [np.concatenate(each) for each in zip(*found, strict=True)]
        exits, counts, again, leads = parts
        scores = self._solved("solving", [(exits, exits, exits[:0], counts, children, again, leads)])
        self._scores.append(scores[:, order])

    def _is_kept(self, frontier: Numbers, like: Any, empty: int | None) -> Numbers:
        if empty is None:
            return np.ones(len(frontier), bool)
        rows, width = np.ascontiguousarray(frontier), 8 * frontier.shape[1]
        states = (load_state(like, rows.ctypes.data + width * row) for row in range(len(rows)))
        return np.array([self._rules.table_part(state) <= empty for state in states], bool)

    def _solved(self, text: str, found: list[tuple[Numbers, ...]]) -> Numbers:
        """The scores of the positions of a graph, each checked against those that its moves lead to.

        They are one row, or two: of gains the lower and the upper bounds.
        """
        joined = (np.concatenate(each) for each in zip(*found, strict=True))
        exits, uppers, repeats, counts, children, again, leads = joined
        found.clear()
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.int32 if len(children) < 2**31 else np.int64
        inner = starts.astype(index), children.astype(index, copy=False), again, leads
        graph = Graph(exits, uppers, repeats if self._repeats else repeats[:0], *inner)
        if self._gains:
            lower, upper = gains(graph)
            self._undecided += int(np.count_nonzero(lower != upper))
            return np.stack([lower, upper]).astype(np.int16)
        scores = outcomes(graph, repetition_draws=self._draws)
        if wrong := inconsistent(graph, scores):
            raise AssertionError(f"{wrong} entries of {text} do not follow from those that their moves lead to")
        self._undecided += int(np.count_nonzero((exits != UNUSED) & (scores == ABSENT)))
        return scores[np.newaxis]

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

    def _kept(self, group: tuple[int, ...]) -> Numbers | None:
        try:
            scores: Numbers = np.load(self._folder / f"{group[0]}.npy", allow_pickle=False)
        except (OSError, ValueError):
            return None
        size = sum(int(self._rules.table_size(part)) for part in group)
        return scores if scores.shape == (1 + self._gains, size) and scores.dtype == np.int16 else None

    def _keep(self, group: tuple[int, ...], scores: Numbers) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with replaced(self._folder / f"{group[0]}.npy") as file, open(file, "wb") as out:
            np.save(out, scores)
            out.flush()
            os.fsync(out.fileno())

    def finished(self) -> MadeTable:
        bounds = np.concatenate(self._scores, axis=1)
        about = {"gains": self._gains, "asked": self._about, "repetition": "draw" if self._draws else "none"}
        parts = np.array(self._parts, np.int64).reshape(-1, 2)
        arrays = {"scores": bounds[0], "parts": parts, "keys": self._keys}
        if not np.array_equal(bounds[0], bounds[-1]):
            arrays["uppers"] = bounds[1]
        write_knowledge(self._path, KIND, self._rules, about, **arrays)
        shutil.rmtree(self._folder, ignore_errors=True)
        seconds = time.monotonic() - self._started
        table = read_table(self._path)
        size = self._path.stat().st_size
        return MadeTable(table, _figures_of(table, self._rules), self._undecided, seconds, size)


def _memory_for(expansion: Expansion, group: tuple[int, ...], sizes: dict[int, int]) -> int:
    """The bytes that a group of parts takes, from the moves of some of its positions."""
    drawn, memory = np.random.default_rng(0), 0.0
    for part in group:
        places = drawn.integers(sizes[part], size=_SAMPLES).tolist()
        found = [next(expansion.of_part(part, min(place + _SAMPLE, sizes[part]), place)) for place in places]
        moves = sum(len(each.names) for each in found) / sum(len(each.exits) for each in found)
        memory += sizes[part] * (_BYTES_A_POSITION + moves * _BYTES_A_MOVE)
    return int(memory)


def _figures_of(table: EndgameTable, rules: Any) -> tuple[PartFigures, ...]:
    if not table.offsets:
        return (_figures(name_of(rules), table.scores, table.uppers, table.gains),)
    text, places = method_or_default(rules, "table_part_text"), [*table.offsets.values()][1:]
    bounds = np.split(table.scores, places), np.split(table.uppers, places)
    return tuple(
        _figures(text(part), lower, upper, table.gains)
        for part, lower, upper in zip(table.offsets, *bounds, strict=True)
    )


def _figures(name: str, lower: Numbers, upper: Numbers, has_gains: bool) -> PartFigures:
    won, lost = lower[lower > 0], np.count_nonzero((upper < 0) & (upper != ABSENT))
    longest = 0 if has_gains or not len(won) else (2048 - int(won.min()) + 1) // 2
    return PartFigures(name, len(won), int(np.count_nonzero((lower == 0) & (upper == 0))), int(lost), longest)


def _among(values: Numbers, ordered: Numbers) -> Numbers:
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: Numbers = ordered[places] == values
    return found


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, AttributeError, OSError):
        return 4096.0 * _MB
