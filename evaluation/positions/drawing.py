"""A position of a live environment as people see it: as text, in full or as one seat sees it, and as a picture."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.capabilities import SupportsInformationStates, SupportsPicture, SupportsText, offers, rules_of
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import Information
from zermelo.envs.pictures.squares import Coordinates, find_squares
from zermelo.envs.traits.openspiel import is_openspiel

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")
_WORD: Final = re.compile(r"\s+|\S+")
_MARKED: Final = re.compile(r"\x1b\[(?!0m)[0-9;]*m(.)\x1b\[0m")


def drawing(game: Any, env: Any, seat: int | None = None) -> str:
    """The position of a live environment, which is not changed, as text; nothing where it cannot be drawn.

    ``game`` is what ``as_game`` made of it, if it can be searched. With a ``seat`` only what it sees is drawn.
    """
    if seat is not None and hides_something(game):
        return seen_by(game, env, seat)
    has_text = offers(game, SupportsText)
    text = str(game.text(game.snapshot(env))).rstrip() if has_text else ""
    if "\n" in text:
        return text
    return _rendered(env) or ("" if text.startswith("<") else text)


def rendered(env: Any, mode: str) -> Any:
    """The answer of ``render`` in a mode; None where the environment has no such mode, or fails."""
    raw = env.unwrapped
    modes = (getattr(raw, "metadata", None) or {}).get("render_modes", ())
    if mode not in modes or not hasattr(raw, "render_mode"):
        return None
    before = raw.render_mode
    raw.render_mode = mode
    try:
        return raw.render()
    except Exception:  # a picture that cannot be drawn must not cost the game that is shown
        return None
    finally:
        raw.render_mode = before


def _rendered(env: Any) -> str:
    """The environment's own text; the one character in colour is marked by brackets."""
    text = rendered(env, "ansi")
    if not isinstance(text, str):
        return ""
    return _ESCAPES.sub("", _MARKED.sub(r"[\1]", text)).strip("\n").rstrip()


_DEALS: Final = 64  # deals of the hidden part, to see which words of a text depend on it


def hides_something(game: Any) -> bool:
    """Whether a seat may not see the whole state; so too where nothing is known of the game (None)."""
    return game is None or game.traits.information is Information.HIDDEN


def seen_by(game: Any, env: Any, seat: int) -> str:
    """A live environment as a seat sees it: the game's text without what is hidden, else what it observes."""
    try:
        state = None if game is None else game.snapshot(env)
    except ZermeloError:
        state = None
    if is_openspiel(state):
        return _of_openspiel(state, seat)
    is_text = state is not None and offers(game, SupportsText)
    knows = is_text and offers(game, SupportsInformationStates)
    return (_without_hidden(game, state, seat) if knows else "") or _cards(env, seat) or _observation(env, seat)


def _without_hidden(game: Any, state: Any, seat: int) -> str:
    """The game's text; words that differ as what the seat has not seen is dealt again are question marks."""
    generator = np.random.default_rng(0)
    text = game.text(state)
    if "\n" not in text:
        return ""  # a name, and no drawing
    lines = [_WORD.findall(line) for line in text.split("\n")]
    for _ in range(_DEALS):
        other = [_WORD.findall(line) for line in game.text(game.resample(state, seat, generator)).split("\n")]
        if [len(line) for line in other] != [len(line) for line in lines]:
            return ""  # how much there is to say depends on what is hidden
        for mine, theirs in zip(lines, other, strict=True):
            mine[:] = [word if word == new else "?" for word, new in zip(mine, theirs, strict=True)]
    return "\n".join("".join(line) for line in lines)


def _of_openspiel(state: Any, seat: int) -> str:
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return str(state.information_state_string(seat))
    return str(state.observation_string(seat)) if kind.provides_observation_string else ""


def _cards(env: Any, seat: int) -> str:
    """RLCard's games say what a player knows by name: hand, open cards, chips."""
    get_state = getattr(getattr(env.unwrapped, "env", None), "get_state", None)
    try:
        raw = {} if get_state is None else get_state(seat)["raw_obs"]
    except Exception:  # the environment is not RLCard's, or has nothing to say at this point
        return ""
    named = {str(name).replace("_", " "): value for name, value in raw.items() if name != "legal_actions"}
    listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in named.items()}
    return "\n".join(f"{name}: {' '.join(map(str, values))}" for name, values in listed.items())


def _observation(env: Any, seat: int) -> str:
    names = getattr(env, "possible_agents", None)
    if not names:
        return ""
    try:
        seen = env.observe(names[seat])
    except Exception:  # some environments cannot show an agent what it has no turn to see
        return ""
    seen = seen.get("observation") if isinstance(seen, dict) else seen
    return f"You observe {np.array2string(np.asarray(seen), threshold=400, max_line_width=78)}"


Picture = npt.NDArray[np.uint8]


def picture_of(game: Any, env: Any) -> Callable[[], Picture] | None:
    """A function that draws the position that an environment is in now; None where there is no picture."""
    if offers(game, SupportsPicture):
        try:
            return partial(game.image, game.snapshot(env))  # type: ignore[attr-defined]  # games of environments have it
        except ZermeloError:
            return None
    image = rendered(env, "rgb_array")
    if not isinstance(image, np.ndarray) or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        return None
    kept = image.astype(np.uint8)
    return lambda: kept


def png(image: Picture) -> bytes:
    """An RGB picture as a PNG file ("Portable Network Graphics specification", W3C, third edition)."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter: none
    rows[:, 1:] = image.reshape(height, 3 * width)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")):
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return file


def coordinates_of(game: Any) -> Coordinates | None:
    rules = rules_of(game)
    squares = find_squares(rules)
    return None if squares is None else squares.coordinates(rules)


def with_coordinates(text: str, game: Any) -> str:
    """A board as text with the names of its rows and columns beside it; other text as it is."""
    names = coordinates_of(game)
    lines = text.split("\n")
    if names is None or (names.rows and len(lines) < len(names.rows)):
        return text
    board = lines[: len(names.rows)] if names.rows else lines
    rest = lines[len(board) :]
    width = max(map(len, names.rows), default=-1) + 1
    beside = [f"{name:>{width - 1}} {line}" for name, line in zip(names.rows, board, strict=False)]
    marks = [word.start() for word in re.finditer(r"\S+", board[-1 if names.from_below else 0])]
    if len(marks) != len(names.columns):
        return text
    letters = [" "] * (marks[-1] + 1)
    for place, name in zip(marks, names.columns, strict=True):
        letters[place] = name
    heading = " " * width + "".join(letters)
    drawn = beside or board
    return "\n".join([*drawn, heading, *rest] if names.from_below else [heading, *drawn, *rest])
