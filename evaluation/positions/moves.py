"""Moves as people write them, and read back: chess in SAN or UCI, points, squares, columns, plays of backgammon.

Numbers, which ``env.step`` takes, are always read as numbers. Text (``action_text``, ``action_aliases``) is read
with or without checks, captures and commentary marks, and in any case where that says which move is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from zermelo.envs.adapters.actions import codec_for, legal_actions
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.capabilities import SupportsActionText, offers
from zermelo.envs.errors import IllegalActionError, ZermeloError
from zermelo.envs.game import CHANCE
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.match.live_game import EnvDriver
from zermelo.evaluation.match.record import GameRecord, Move
from zermelo.evaluation.match.text import shown

_NUMBER: Final = re.compile(r"[+-]?\d{1,18}")
_MOVE_NUMBER: Final = re.compile(r"\d+\.+")
_WORDS: Final = 8  # a move has at most so many words
_LISTED: Final = 30


def game_or_none(env: Any) -> Any | None:
    """The game of a live environment; None where it cannot be searched, and so has no notation either."""
    try:
        return as_game(env)
    except ZermeloError:
        return None


def move_text(game: Any, state: Any, action: int) -> str:
    """A legal action of a game as people write it; nothing where nothing but its number is known."""
    if state is None or not offers(game, SupportsActionText):
        return ""
    text = str(game.action_text(state, action))
    return "" if text.isdigit() else text.removeprefix(f"{action} - ")  # OpenSpiel's backgammon says both


def name_of(game: Any, state: Any, action: int) -> str:
    """The environment's number of an action, and how people write it where that is known and no mere number."""
    text = move_text(game, state, action)
    return f"{action}={text}" if text else str(action)


def states_of(game: Any, state: Any, actions: Sequence[int]) -> list[Any]:
    """The state in which each action of a line of play is played; None after chance, on which it depends."""
    states = [state]
    for action in actions[:-1]:
        if state is not None:
            state = game.result(state, action)
            state = None if game.to_move(state) == CHANCE else state
        states.append(state)
    return states[: len(actions)]


def move_labels(env: Any) -> dict[int, str]:
    """The legal moves of a live environment by their numbers, as people write them ("" where nobody says how)."""
    return {number: texts[0] for number, texts in written_moves(env).items()}


def written_moves(env: Any, numbers: Sequence[int] | None = None) -> dict[int, tuple[str, ...]]:
    """All ways to write legal moves, the usual one first; by default of every legal move."""
    if numbers is None:
        numbers = [*map(codec_for(env).to_index, legal_actions(env))]
    try:
        game = as_game(env)
        state = game.snapshot(env)
    except ZermeloError:
        return dict.fromkeys(numbers, ("",))
    written = {}
    for number in numbers:
        aliases = game.action_aliases(state, number) if offers(game, SupportsActionText) else ()
        written[number] = (move_text(game, state, number), *aliases)
    return written


def replayed(record: GameRecord, rules: Any) -> Iterator[tuple[int, Any, int, Move | None]]:
    """Seat, state, action and record of each move, none for the opening's; without the last if it was illegal."""
    game = RulesGame(rules)
    state = game.initial_state()
    moves = [*((action, None) for action in record.opening), *((move.action, move) for move in record.moves)]
    for action, move in moves:
        if game.is_terminal(state) or action not in game.legal_actions(state):
            return
        yield game.to_move(state), state, action, move
        state = game.result(state, action)


def _plain(text: str) -> str:
    """Without what may be left out: checks, captures, equals signs, annotations; ``0-0`` is castling too."""
    castling = text.replace("0-0-0", "O-O-O").replace("0-0", "O-O")
    return re.sub(r"[\s,]+", " ", re.sub(r"[+#!?=]|(?<=[a-hA-Z1-8])x(?=[a-h])|\*", "", castling)).strip()


def _find(written: Mapping[int, Sequence[str]], text: str) -> list[int]:
    """The moves that a text may mean, read as it is, else more plainly, else in upper or lower case alike."""
    for reading in (str, _plain, lambda name: _plain(_plain(name).casefold())):
        wanted = reading(text)
        numbers = [number for number, names in written.items() if any(n and reading(n) == wanted for n in names)]
        if numbers:
            return numbers
    return []


def read_move(driver: EnvDriver, text: str) -> Any:
    word = text.strip()
    if _NUMBER.fullmatch(word):
        return _checked(driver, int(word))
    return _action(driver.env, _meant(written_moves(driver.env), word))


def _action(env: Any, number: int) -> Any:
    """The action that ``env.step`` takes for a number; the number itself where actions are numbers."""
    codec = codec_for(env)
    is_array = not hasattr(codec.space, "start") and 0 <= number < codec.size
    return codec.to_env(number) if is_array else number


def _checked(driver: EnvDriver, number: int) -> Any:
    action = _action(driver.env, number)
    refusal = driver.refusal(action)
    if refusal is None:
        return action
    if not isinstance(action, int) or not (written := written_moves(driver.env)):
        raise IllegalActionError(refusal)
    raise _not_legal(str(number), written)


def _meant(written: Mapping[int, Sequence[str]], word: str) -> int:
    numbers = _find(written, word)
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        meant = listed_moves({number: written[number][0] for number in numbers})
        raise IllegalActionError(f"{shown(word, 40)}, which may be {meant}")
    raise _not_legal(shown(word, 40), written)


def _not_legal(move: str, written: Mapping[int, Sequence[str]]) -> IllegalActionError:
    legal = listed_moves({number: names[0] for number, names in written.items()})
    return IllegalActionError(f"{move}, which is not legal here (legal: {legal})")


def listed_moves(labels: Mapping[int, str]) -> str:
    """Moves in a sentence, such as ``0=a3, 1=b3``; of many the first."""
    texts = [f"{number}={label}" if label else str(number) for number, label in labels.items()]
    return ", ".join(texts[:_LISTED]) + (", ..." if len(texts) > _LISTED else "")


def play_moves(driver: EnvDriver, text: str, source: str = "--moves", plies: int | None = None) -> list[Any]:
    """Reads moves one after another and plays them, up to ``plies``; what was played, as ``env.step`` takes it.

    They are separated by commas or spaces, or by semicolons where moves have spaces of their own. Numbers of moves
    (``1.``, ``2...``) are passed over. ``source`` is for messages.
    """
    played: list[Any] = []
    for part in text.split(";"):
        words = [re.sub(r"^\d+\.+(?=[A-Za-z])", "", word) for word in re.split(r"[\s,]+", part) if word]
        words = [word for word in words if not _MOVE_NUMBER.fullmatch(word)]
        while words and (plies is None or len(played) < plies):
            used, action = _next_move(driver, words, f"move {len(played) + 1}", source)
            driver.step(action)
            played.append(action)
            del words[:used]
    return played


def _next_move(driver: EnvDriver, words: Sequence[str], which: str, source: str) -> tuple[int, Any]:
    """The number of words of the next move, as many as possible, and the move."""
    if driver.turn() is None:
        raise IllegalActionError(f"{which} of {source} ({shown(words[0], 40)}) comes after the end of the game")
    try:
        if _NUMBER.fullmatch(words[0]):
            return 1, _checked(driver, int(words[0]))
        written = written_moves(driver.env)
        for used in range(min(_WORDS, len(words)), 1, -1):
            if len(numbers := _find(written, " ".join(words[:used]))) == 1:
                return used, _action(driver.env, numbers[0])
        return 1, _action(driver.env, _meant(written, words[0]))
    except IllegalActionError as error:
        raise IllegalActionError(f"{which} of {source} is {error}") from None
