"""PettingZoo's environment of chess: how its positions are read."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.fen import read_fen
from zermelo.envs.games.chess.moves import after
from zermelo.envs.games.chess.rules import Chess
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.history import with_past

_RULES: Final = Chess()
_PROMOTIONS: Final = {None: 0, 2: 1, 3: 2, 4: 3, 5: 0}
"""What a pawn becomes, as actions number it, by python-chess's number of the piece."""


def _read_chess(env: Any) -> Any | None:
    """The position of PettingZoo's board, and those before it since the last capture or pawn's move."""
    board = env.board.copy(stack=env.board.halfmove_clock)
    try:
        state, _ = read_fen(board.root().fen())
    except InvalidSettingError:
        return None
    keys = []
    for move in board.move_stack:
        turned = 56 * state.seat
        keys.append(_RULES.repetition_key(state))
        state = after(state, move.from_square ^ turned, move.to_square ^ turned, _PROMOTIONS[move.promotion])
    return with_past(_RULES, state, keys)


PETTINGZOO: Final = EquivalentRules(_RULES, _read_chess)
"""PettingZoo's environment of this game."""
