"""Perft: counting the leaves of the game tree at a depth, the classic check of a move generator."""

from __future__ import annotations

from typing import Any, Literal, overload

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import CHANCE, Chance, Game
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.position import position
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call

COMPILED_DEPTH = 4
"""Rules are compiled to count at least this deep: loading the machine code takes longer than a shallow count."""


@overload
def perft(game: Any, depth: int, *, state: Any = None, split: Literal[False] = False) -> int: ...
@overload
def perft(game: Any, depth: int, *, state: Any = None, split: Literal[True]) -> dict[int, int]: ...
@checked_call
def perft(game: Any, depth: int, *, state: Any = None, split: bool = False) -> int | dict[int, int]:
    """The number of leaves of the game tree at a depth: paths of exactly that many moves.

    Paths that end earlier are not counted. Chance events count as moves: each outcome is a branch. Rules without
    chance are counted compiled, where it is worth it.

    Args:
        game: A live environment (the tree starts at its position now) or its name, or a ``Game``.
        depth: Moves from the root to the leaves, at least 0.
        state: The root, for a ``Game``; None for its initial state.
        split: Count for each root action, or chance outcome, apart, ascending.

    Raises:
        InvalidSettingError: The depth is not a whole number of at least 0 (at least 1 with ``split``).
        UnsupportedGameError: ``game`` cannot be seen as a game.
    """
    least = 1 if split else 0
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < least:
        raise InvalidSettingError(f"depth must be a whole number of at least {least}, not {depth!r}")
    root = position(game, state)
    rules, state = root.game, root.state
    if not split:
        return _leaves(rules, state, depth)
    after = {root.number(branch): rules.result(state, branch) for branch in _branches(rules, state)}
    return {branch: _leaves(rules, after[branch], depth - 1) for branch in sorted(after)}


def _leaves(game: Game[Any], state: Any, depth: int) -> int:
    has_no_chance = game.traits.chance is Chance.NONE
    if depth >= COMPILED_DEPTH and isinstance(game, RulesGame) and has_no_chance and can_compile():
        from zermelo.envs.jit.perft_kernel import count_leaves

        return count_leaves(game, state, depth)
    return _count(game, state, depth)


def _branches(game: Game[Any], state: Any) -> list[int]:
    if game.is_terminal(state):
        return []
    if game.to_move(state) == CHANCE:
        return [outcome for outcome, _ in game.chance_outcomes(state)]
    return list(game.legal_actions(state))


def _count(game: Game[Any], state: Any, depth: int) -> int:
    if depth == 0:
        return 1
    if depth == 1:
        return len(_branches(game, state))
    return sum(_count(game, game.result(state, branch), depth - 1) for branch in _branches(game, state))
