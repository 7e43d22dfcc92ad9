"""Games as files and back: PGN for chess, SGF for Go, JSON for all. Files may be anybody's."""

from __future__ import annotations

import datetime
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, GameRecord, Move
from zermelo.evaluation.match.text import shown
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.notation import MOST_PLIES, game_text, notation_of, pgn_moves, sgf_moves

LARGEST: Final = 2**20  # bytes of the largest file that is read


def formats_of(env: str) -> tuple[ExportFormat, ...]:
    own = notation_of(env)
    return (ExportFormat.JSON,) if own is None else (own, ExportFormat.JSON)


def saved_game(record: GameRecord, form: str, *, finished: bool) -> str:
    if form not in formats_of(record.env):
        formats = " and ".join(formats_of(record.env))
        raise InvalidSettingError(f"games of {record.env} are saved as {formats}, not as {shown(form, 20)}")
    if form == ExportFormat.JSON:
        return record.to_json() + "\n"
    today = datetime.date.today().isoformat()  # of whoever sits at the board
    return game_text(record, ExportFormat(form), date=today, finished=finished)


def load_game(text: str, env: str) -> GameRecord:
    """The game in a file, for the board of an environment; whether its moves are legal is not looked at."""
    if len(text) > LARGEST:
        raise StoreError(f"the file is too large: a game has at most {LARGEST:,} characters")
    start = text.lstrip("\ufeff \t\r\n")[:1]
    own = notation_of(env)
    if start == "{":
        return _from_json(text, env)
    if start == "(" and own is ExportFormat.SGF:
        return _record(env, sgf_moves(text, env))
    if start and own is ExportFormat.PGN and start != "(":
        return _record(env, pgn_moves(text, env))
    formats = " or ".join(form.upper() for form in formats_of(env))
    raise StoreError(f"this is no game in {formats}, which is what games of {env} are loaded from")


def _record(env: str, moves: list[Any]) -> GameRecord:
    played = tuple(Move(place % 2, move) for place, move in enumerate(moves))
    names = ("", "")
    return GameRecord(
        env=env, agents=names, seat_names=names, seed=0, rewards=(0.0, 0.0), end=EndReason.MOVE_LIMIT, moves=played
    )


def _from_json(text: str, env: str) -> GameRecord:
    try:
        record = GameRecord.from_json(text)
    except StoreError as error:
        raise StoreError(f"this is no game that zermelo has saved: {shown(str(error), 200)}") from error
    if record.env != env:
        other = shown(record.env, 60)
        raise StoreError(f"this is a game of {other}, and the board is for {env}: start the board for that one")
    are_actions = all(isinstance(one, int | tuple) and not isinstance(one, bool) for one in record.actions)
    if not are_actions or len(record.actions) > MOST_PLIES:
        raise StoreError(f"this is no game for the board: its moves are not numbers, or more than {MOST_PLIES:,}")
    return record
