"""Ends of the game and quiescence search; a selective one tries all actions of urgent states."""

from __future__ import annotations

from typing import Any

from zermelo.agents.kernels.memory import enter, row_of
from zermelo.agents.knowledge.endgame_kernel import ABSENT, may_be_undone, table_score
from zermelo.agents.tree_search.alpha_beta.kernel_memory import score_moves, select_best
from zermelo.agents.tree_search.alpha_beta.kernel_scores import (
    NOTHING,
    UNKNOWN,
    evaluate,
    known_outcome,
    outcome,
    to_child,
    to_parent,
)
from zermelo.agents.tree_search.compiled.kernel_memory import update_pv
from zermelo.agents.tree_search.compiled.kernel_nodes import order_moves
from zermelo.agents.tree_search.compiled.record import WITH, TwoPlayerRecord
from zermelo.envs.jit.history import back_to_end, back_to_illegal
from zermelo.envs.jit.memory import load, store, words
from zermelo.envs.rules.protocol import Rules


def ended(rules: Rules, state: Any, mover: int, alpha: int, beta: int, ply: int, search: TwoPlayerRecord) -> int:
    """The score of a finished state, or of one that an endgame table knows, with bit 0 set; else ``UNKNOWN``."""
    if rules.is_terminal(state):
        if WITH.shares:
            search.repetition_ply = min(search.repetition_ply, ply - back_to_end(rules, state))
        return outcome(rules, state, mover, search) | 1
    if WITH.tables:
        known = table_score(rules, state, search.tables)
        if known != ABSENT:
            best = known_outcome(known, search)
            is_bound = may_be_undone(rules, state, known, search.tables)
            if not is_bound or (known > 0 and best <= alpha) or (known < 0 and best >= beta):
                return best | 1
    return UNKNOWN


def quiesce(rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, search: TwoPlayerRecord) -> int:
    """Quiescence search: the mover may stand pat on the evaluation or play a noisy action; in check, any."""
    row = row_of(search, ply)
    store(row, 0, 0)
    if not enter(search, ply):
        return 0
    mover = rules.to_move(state)
    found = ended(rules, state, mover, alpha, beta, ply, search)
    if found != UNKNOWN:
        return found
    is_last = search.quiescence + depth <= 0
    is_urgent = WITH.selective and not is_last and rules.is_urgent(state)
    best = NOTHING
    low = alpha
    if not is_urgent:
        best = evaluate(rules, state, mover, ply, search)
        low = max(alpha, best)
        if is_last or not WITH.noisy or low >= beta:
            return best
    actions = row + 8
    later = actions + 8 * search.width
    count = 0
    if is_urgent:
        count = rules.legal_actions(state, words(actions, search.width))
    elif WITH.noisy:
        count = rules.noisy_actions(state, words(actions, search.width))
    if WITH.shares:
        search.repetition_ply = min(search.repetition_ply, ply - back_to_illegal(rules))
    if WITH.selective:
        score_moves(rules, state, mover, actions, count, later, ply, search.minus_one, search)
    else:
        killers = search.killers + 16 * ply
        order_moves(rules, state, mover, actions, count, later, killers, search.minus_one, True, search)
    for index in range(count):
        if WITH.selective:
            select_best(actions, later, index, count)
        action = load(actions, index)
        child = rules.result(state, action)
        child_low = to_child(search, low)
        child_high = to_child(search, beta)
        if rules.to_move(child) == mover:
            score = quiesce(rules, child, depth - 1, child_low, child_high, ply + 1, search) & -2
        else:
            score = -(quiesce(rules, child, depth - 1, -child_high, -child_low, ply + 1, search) & -2)
        if search.stop != 0:
            return 0
        score = to_parent(search, score)
        if score > best:
            best = score
            if not WITH.selective or score > low:
                update_pv(search, ply, action)
            if score > low:
                low = score
                if low >= beta:
                    break
    return best
