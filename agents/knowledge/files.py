"""Files of knowledge about one game, such as endgame tables and opening books: data, never code.

A file is an ``.npz`` archive: NumPy arrays without pickles, each with its checksum, and a header in JSON that says
which game they are of, what its rules did in some games (their fingerprint), and where the file comes from.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.envs import InvalidSettingError
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat
from zermelo.envs.support.files import replaced

Arrays = Mapping[str, NDArray[Any]]
_HEADER: Final = "header"
_VERSION: Final = 1
_GAMES, _PLIES, _NUMBERS = 12, 80, 16


def write_knowledge(
    path: str | os.PathLike[str], kind: str, rules: Any, about: dict[str, Any], **arrays: Any
) -> None:
    """Writes a file of a kind, ``"endgame table"`` or ``"opening book"``, as a whole or not at all."""
    from importlib.metadata import version

    header = {
        "kind": kind,
        "version": _VERSION,
        "game": name_of(rules),
        "fingerprint": fingerprint(rules),
        "made_by": f"zermelo {version('zermelo')}",
        "made_at": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        **about,
    }
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with replaced(path) as file, open(file, "wb") as out:
        np.savez_compressed(out, **{_HEADER: text, **arrays})
        out.flush()
        os.fsync(out.fileno())


def file_version(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Time of change and size of a file, by which it is read only once; zeros if there is none."""
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


def read_knowledge(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file.

    Raises:
        InvalidSettingError: There is no such file, it is none of this kind, or it is damaged.
    """
    if not os.path.isfile(path):
        raise InvalidSettingError(f"there is no {kind} {os.fspath(path)!r}: name a file that zermelo has written")
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        found = header["kind"], header["version"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = "it holds no arrays" if "pickle" in str(error) else error  # NumPy would advise to trust the file
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is no {kind}, or it is damaged ({reason}): make it again"
        ) from error
    if found != (kind, _VERSION):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is version {found[1]} of a file of kind {found[0]!r}; needed is "
            f"version {_VERSION} of an {kind}"
        )
    return header, arrays


def require_game(path: str | os.PathLike[str], header: Mapping[str, Any], game: Any) -> None:
    """Refuses a file that was made for another game.

    Raises:
        InvalidSettingError: The game has no rules, other rules, or rules that play differently.
    """
    if not isinstance(game, RulesGame):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is for the rules of {header['game']}, but {game.traits.name} has no rules here"
        )
    if header["game"] != name_of(game.rules):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is for {header['game']}, not for {name_of(game.rules)}: give a file of this game"
        )
    if header["fingerprint"] != fingerprint(game.rules):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} was made when the rules of {header['game']} were others: make it again"
        )


def plain_rules(rules: Any) -> Any:
    """The rules with what no knowledge depends on, such as the position that a game starts from, as by default."""
    return rules.table_rules() if hasattr(rules, "table_rules") else rules


def name_of(rules: Any) -> str:
    """The game of a file: its name, with the parameters that count."""
    return RulesGame(plain_rules(rules)).traits.name


def fingerprint(rules: Any) -> str:
    """A hash of what rules do in a few games, and of how their tables are numbered."""
    return _fingerprint(plain_rules(rules))


@functools.lru_cache(maxsize=64)
def _fingerprint(rules: Any) -> str:
    game = RulesGame(rules).for_search
    digest = hashlib.sha256()
    random = np.random.default_rng(0)
    for _ in range(_GAMES):
        state = game.initial_state()
        for _ in range(_PLIES):
            if game.is_terminal(state):
                digest.update(repr(game.utility(state)).encode())
                break
            legal = list(game.legal_actions(state))
            digest.update(repr((game.to_move(state), legal)).encode())
            state = game.result(state, legal[int(random.integers(len(legal)))])
    if hasattr(rules, "table_index"):
        for part in (each for group in rules.table_parts("3") for each in group):
            for index in range(0, rules.table_size(part), rules.table_size(part) // _NUMBERS + 1):
                digest.update(repr(flat(rules.table_state(part, index))).encode())
    return digest.hexdigest()[:16]
