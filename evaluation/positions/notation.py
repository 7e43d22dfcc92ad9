"""Games as people keep them: chess in PGN, Go in SGF, all games of a tournament in one file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess
from zermelo.envs.support.files import replaced
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.positions.pgn_writing import written_pgn
from zermelo.evaluation.positions.sgf import go_rules, sgf_games, written_sgf

MOST_PLIES: Final = 5_000


class _Notation(NamedTuple):
    game: str
    envs: tuple[str, ...]
    write: Callable[..., str]


_NOTATIONS: Final[Mapping[ExportFormat, _Notation]] = {
    ExportFormat.PGN: _Notation("chess", ("classic/chess-v6", "zermelo/Chess-v0"), written_pgn),
    ExportFormat.SGF: _Notation("Go", ("classic/go-v5", "zermelo/Go-v0"), written_sgf),
}


def export_notation(
    records: Iterable[GameRecord], folder: str | os.PathLike[str], form: ExportFormat, date: str = ""
) -> Path:
    """Writes ``games.pgn`` or ``games.sgf``, with the day of the games (``2026-03-01``) where it is known."""
    target = Path(folder)
    path, count = target / f"games.{form}", 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            replaced(path) as unfinished,
            unfinished.open("w", encoding="utf-8", errors="replace", newline="\n") as file,
        ):
            for count, record in enumerate(records, start=1):
                file.write(game_text(record, form, count, date))
            if not count:
                raise StoreError("there are no games to export: play some first")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; choose another folder with --out"
        ) from error
    return path


def notation_of(env: str) -> ExportFormat | None:
    with contextlib.suppress(InvalidSettingError):
        name = parse_spec(env).name
        return next((form for form, notation in _NOTATIONS.items() if name in notation.envs), None)
    return None


def game_text(
    record: GameRecord, form: ExportFormat, number: int = 1, date: str = "", finished: bool = True
) -> str:
    notation = _NOTATIONS[form]
    if notation_of(record.env) is not form:
        raise InvalidSettingError(
            f"{form} is for {notation.game}, such as {notation.envs[0]}, and not for {record.env}: use csv"
        )
    return notation.write(record, parse_spec(record.env).arguments, number, date, finished) + "\n"


def pgn_moves(text: str, env: str) -> list[str]:
    game = next(pgn_games(text, MOST_PLIES), None)
    if game is None:
        raise StoreError("there is no game in this PGN")
    start = Chess(parse_spec(env).arguments.get("fen", Chess().fen)).fen
    if Chess(game.fen).fen.split()[:4] != start.split()[:4]:
        raise StoreError(f"the game begins at {game.fen}, and the board at {start}: give it as fen=...")
    return [*game.moves]


def sgf_moves(text: str, env: str) -> list[int]:
    game = next(sgf_games(text, go_rules(env, parse_spec(env).arguments).size), None)
    if game is None:
        raise StoreError("there is no game in this SGF")
    moves = [*game.setup, *game.moves]
    if len(moves) > MOST_PLIES:
        raise StoreError(f"this SGF has more than {MOST_PLIES:,} moves")
    return moves
