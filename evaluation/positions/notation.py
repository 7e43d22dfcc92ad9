"""Games as people keep them: chess in PGN, Go in SGF, all games of a tournament in one file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess
from zermelo.envs.support.files import replaced
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.pgn import pgn_games, written_pgn
from zermelo.evaluation.positions.sgf import go_rules, sgf_games, written_sgf

MOST_PLIES: Final = 5_000
_NAMES: Final[Mapping[ExportFormat, tuple[str, tuple[str, ...]]]] = {
    ExportFormat.PGN: ("chess", ("classic/chess-v6", "zermelo/Chess-v0")),
    ExportFormat.SGF: ("Go", ("classic/go-v5", "zermelo/Go-v0")),
}
"""The game of each notation, and the environments that play it."""
_WRITE: Final = {ExportFormat.PGN: written_pgn, ExportFormat.SGF: written_sgf}


def export_notation(
    records: Iterable[GameRecord], folder: str | os.PathLike[str], form: ExportFormat, date: str = ""
) -> Path:
    """Writes ``games.pgn`` or ``games.sgf`` into a folder; the records are read once and not kept.

    ``date`` is the day of the games, such as ``2026-03-01``, where it is known.
    """
    target = Path(folder)
    path, found = target / f"games.{form}", 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            replaced(path) as unfinished,
            unfinished.open("w", encoding="utf-8", errors="replace", newline="\n") as file,
        ):
            for found, record in enumerate(records, start=1):
                file.write(_WRITE[form](record, _settings(record, form), found, date) + "\n")
            if not found:
                raise StoreError("there are no games to export: play some first")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; choose another folder with --out"
        ) from error
    return path


def notation_of(env: str) -> ExportFormat | None:
    """The notation for games of an environment; None where there is none."""
    for form, (_, names) in _NAMES.items():
        with contextlib.suppress(InvalidSettingError):
            if parse_spec(env).name in names:
                return form
    return None


def game_text(record: GameRecord, form: ExportFormat, *, date: str = "", finished: bool = True) -> str:
    """One game of chess in PGN, or of Go in SGF."""
    return _WRITE[form](record, _settings(record, form), 1, date, finished) + "\n"


def _settings(record: GameRecord, form: ExportFormat) -> Mapping[str, Any]:
    """The parameters of a game's environment, if the notation is for it."""
    kind, names = _NAMES[form]
    try:
        spec = parse_spec(record.env)
    except InvalidSettingError:
        spec = None
    if spec is None or spec.name not in names:
        raise InvalidSettingError(f"{form} is for {kind}, such as {names[0]}, and not for {record.env}: use csv")
    return spec.arguments


def pgn_moves(text: str, env: str) -> list[str]:
    """The moves of the first game in a PGN, in UCI notation."""
    game = next(pgn_games(text, MOST_PLIES), None)
    if game is None:
        raise StoreError("there is no game in this PGN")
    start = Chess(parse_spec(env).arguments.get("fen", Chess().fen)).fen
    if Chess(game.fen).fen.split()[:4] != start.split()[:4]:
        raise StoreError(f"the game begins at {game.fen}, and the board at {start}: give it as fen=...")
    return [*game.moves]


def sgf_moves(text: str, env: str) -> list[int]:
    """The moves of the main line of an SGF of Go, as actions of the environment."""
    game = next(sgf_games(text, go_rules(env, parse_spec(env).arguments).size), None)
    if game is None:
        raise StoreError("there is no game in this SGF")
    moves = [*game.setup, *game.moves]
    if len(moves) > MOST_PLIES:
        raise StoreError(f"this SGF has more than {MOST_PLIES:,} moves")
    return moves
