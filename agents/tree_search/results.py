"""From what a search found to what the result of a request says of it."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.settings import Ties
from zermelo.agents.tree_search.interface import Iteration, RootMove, RootNode, RootRequest, TreeSearch
from zermelo.envs.game import CHANCE, Chance

_TOLERANCE = 1e-9


def answer(
    search: TreeSearch,
    node: RootNode,
    iteration: Iteration | None,
    request: RootRequest,
    depth: int,
    stopped_by: StoppedBy,
    draw: float = 0.0,
    *,
    is_estimate: bool = False,
) -> dict[str, Any]:
    """The findings of a search from a state, as ``Request.result`` takes them.

    It is that of ``iteration``, None if a limit came before the first action was searched: the action is then the
    most promising one, and the value the middle between winning and losing. ``depth`` is that of the last finished
    iteration. Action values that only an evaluation knows are left out once the best is proven, unless all were
    asked for. ``draw``, from 0 up to 1, chooses among random ties.
    """
    seat, table = node.seat, search.table
    known: list[RootMove] = []
    if iteration is None or iteration.best is None:
        action = search.root_actions(node)[0]
        move, proven, reach = unknown_move(node, action), False, 0.0
    else:
        tied = iteration.best_moves()
        if search.breaks_ties and len(tied) > 1:
            tied = list(search.tie_winners(tied))
        move = tied[int(draw * len(tied))] if request.ties is Ties.RANDOM else tied[0]
        move = iteration.best if request.draws_order else move
        proven = iteration.proven
        reach = iteration.depth if iteration.finished else depth + 1
        known = sorted(iteration.moves)
    values, action_values, proven_actions = _values_by_seat(search, move), {}, []
    for each in known:
        if each.is_exact and (each.proven or request.exact or not proven):
            action_values[each.action] = _values_by_seat(search, each)[seat]
            if each.proven:
                proven_actions.append(each.action)
    line, ends = _complete_line(search, node, move, 0 if iteration is None else iteration.depth, proven=proven)
    return {
        "action": move.action,
        "value": values[seat],
        "values_by_seat": values,
        "action_values": action_values,
        "proven_actions": tuple(proven_actions),
        "principal_variation": line,
        "depth": depth,
        "stopped_by": stopped_by,
        "proven": proven,
        "plies": _plies(search, node, move, line if ends else None, reach) if proven else None,
        "is_estimate": is_estimate,
        "standard_error": math.sqrt(move.variance) if is_estimate and move.variance >= 0 else None,
        "evaluator": search.evaluator_name,
        "leaf_seconds": search.leaf_seconds / search.leaves if search.leaves else 0.0,
        "compiled": search.compiled,
        "why_plain": search.why_plain,
        "actions_tried": len(search.root_tried) or len(node.legal),
        "stats": {} if table is None else {"table_hits": table.hits, "table_stores": table.stores},
    }


def unknown_move(node: RootNode, action: int) -> RootMove:
    """A move that was not searched."""
    return RootMove(action, (node.frame.middle, 0), False, False, (action,), math.nan)


def _values_by_seat(search: TreeSearch, move: RootMove) -> tuple[float, ...]:
    """Every seat's value, as far as the search knows it (not a number where it does not)."""
    if move.values:
        return tuple(map(float, move.values))
    return search.game.traits.values_by_seat(search.max_seat, float(move.score[0]))


def _complete_line(
    search: TreeSearch, node: RootNode, move: RootMove, depth: float, *, proven: bool
) -> tuple[tuple[int, ...], bool]:
    """The principal variation of a root move, continued from the table; and whether the game ends with it.

    It stops at chance. A table may know a state from another search of it: a line that ends the game with other
    values than those of the move is cut where the table took over. A line as long as the search looked ahead needs
    no replay, if nothing is proven by its end.
    """
    if not move.is_exact:
        return move.line[:1], False
    if len(move.line) >= depth and not proven:
        return move.line, False
    game, state = search.game, node.state
    played: list[int] = []
    while len(played) < MAX_PLIES:
        if game.is_terminal(state):
            if len(played) <= len(move.line):
                return tuple(played), True
            pairs = zip(game.utility(state), _values_by_seat(search, move), strict=True)
            if all(math.isnan(told) or math.isclose(final, told, abs_tol=_TOLERANCE) for final, told in pairs):
                return tuple(played), True
            return move.line, False
        if game.to_move(state) == CHANCE:
            break
        action: int | None
        if len(played) < len(move.line):
            action = move.line[len(played)]
        elif len(played) < depth:
            action = search.recall(state, depth - len(played), len(played))
        else:
            break
        if action is None or action not in choices_in(game, state):
            break
        state = child_of(game, state, action)
        if state is None:
            break
        played.append(action)
    return tuple(played), False


def _plies(
    search: TreeSearch, node: RootNode, move: RootMove, finished_line: tuple[int, ...] | None, reach: float
) -> int | None:
    """Moves to the end under best play: those of the soonest win or latest loss, else of a line that ends.

    A win more than ``reach`` moves away may not be the soonest: others were not looked for so far.
    """
    frame, traits = node.frame, search.game.traits
    if search.selective and not math.isinf(reach):  # a sooner win may have been searched less deep
        return None
    if search.breaks_ties:  # it prefers whole lines, so what it plays is as long as its line
        return len(finished_line) if finished_line is not None else None
    value, distance = move.score
    if traits.terminal_rewards_only and traits.chance is Chance.NONE and value != frame.middle:
        return int(abs(distance)) if frame.prefer_short_wins and abs(distance) <= reach else None
    return len(finished_line) if finished_line is not None else None
