"""From what a search found to the ``SearchResult`` that the caller reads."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.options import Ties
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.result import BestLine, SearchResult
from zermelo.agents.core.tree_search import Iteration, RootMove, TreeSearch
from zermelo.envs import CHANCE, Chance, RewardSum, Traits

_TOLERANCE = 1e-9


def answer(
    search: TreeSearch,
    state: Any,
    iteration: Iteration | None,
    *,
    depth: int,
    stopped_by: StoppedBy,
    exact: bool,
    ties: Ties,
    draw: float,
    is_estimate: bool = False,
    best_lines: int = 1,
) -> SearchResult:
    """The result of a search from a state.

    It is that of ``iteration``, None if a limit came before the first action was searched: the action is then the
    most promising one, and the value the middle between winning and losing. ``depth`` is that of the last finished
    iteration. Where not every root action's value was asked for (``exact``), those that only an evaluation knows
    are left out once the best is proven. ``draw``, from 0 up to 1, chooses among several best actions, if ``ties``
    are random.
    """
    game, traits = search.game, search.game.traits
    seat = game.to_move(state)
    max_seat = search.max_seat
    table = search.table
    proven_actions: tuple[int, ...] = ()
    stats = {} if table is None else {"table_hits": table.hits, "table_stores": table.stores}
    if iteration is None or iteration.best is None:
        middle = search.frame(state).middle
        action = search.root_actions(state)[0]
        move = RootMove(action, (middle, 0), False, False, (action,), math.nan)
        action_values, proven, reach = {}, False, 0.0
    else:
        tied = iteration.tied()
        if search.prefers and len(tied) > 1:
            tied = list(search.preferred(tied))
        move = tied[0] if ties is Ties.FIRST or len(tied) == 1 else tied[int(draw * len(tied))]
        known = [m for m in iteration.moves if m.is_exact and (m.proven or exact or not iteration.proven)]
        known.sort(key=lambda m: m.action)
        action_values = {m.action: _values_by_seat(traits, m, max_seat)[seat] for m in known}
        proven_actions = tuple(m.action for m in known if m.proven)
        proven = iteration.proven
        reach = iteration.depth if iteration.finished else depth + 1
    values = _values_by_seat(traits, move, max_seat)
    lines: tuple[BestLine, ...] = ()
    if best_lines > 1 and iteration is not None:
        lines = _best_lines(search, state, iteration, move, best_lines)
    line, ends = _complete_line(search, state, move, 0 if iteration is None else iteration.depth, values)
    spread = math.sqrt(move.variance) if is_estimate and move.variance >= 0 else None
    return SearchResult(
        action=move.action,
        value=values[seat],
        values_by_seat=values,
        action_values=action_values,
        proven_actions=proven_actions,
        principal_variation=line,
        best_lines=lines,
        depth=depth,
        stopped_by=stopped_by,
        proven=proven,
        plies=_plies(search, state, move, line if ends else None, reach) if proven else None,
        is_estimate=is_estimate,
        standard_error=spread,
        evaluator=search.evaluator_name,
        leaf_seconds=search.leaf_seconds / search.leaves if search.leaves else 0.0,
        compiled=search.compiled,
        why_plain=search.why_plain,
        stats=stats,
    )


def _best_lines(
    search: TreeSearch, state: Any, iteration: Iteration, chosen: RootMove, count: int
) -> tuple[BestLine, ...]:
    """The chosen move and the best others whose exact value is known, with their lines."""
    seat, max_seat = search.game.to_move(state), search.max_seat
    others = [move for move in iteration.moves if move.is_exact and move.action != chosen.action]
    others.sort(key=lambda move: move.action)
    others.sort(key=lambda move: move.score, reverse=seat == max_seat)
    lines = []
    for move in [chosen, *others][:count]:
        values = _values_by_seat(search.game.traits, move, max_seat)
        line, _ = _complete_line(search, state, move, iteration.depth, values)
        lines.append(BestLine(move.action, values[seat], line, move.proven))
    return tuple(lines)


def _values_by_seat(traits: Traits, move: RootMove, max_seat: int) -> tuple[float, ...]:
    """Every seat's value, as far as the search knows it (not a number where it does not)."""
    if move.values:
        return tuple(map(float, move.values))
    value = float(move.score[0])
    rest = math.nan
    if traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL:
        rest = float(traits.constant - value)
    return tuple(value if seat == max_seat else rest for seat in range(traits.seats))


def _complete_line(
    search: TreeSearch, state: Any, move: RootMove, depth: float, values: tuple[float, ...]
) -> tuple[tuple[int, ...], bool]:
    """The principal variation of a root move, continued from the table; and whether the game ends with it.

    Where chance moves it stops: there is no best outcome. It is replayed as it is put together: a table may by now
    know a state from another search of it, which went on to another value; a line that ends the game with other
    ``values`` than those of the result is cut where the table took over. Of a move that is only bounded, what
    follows is not known.
    """
    if not move.is_exact:
        return move.line[:1], False
    game = search.game
    played: list[int] = []
    while len(played) < MAX_PLIES:
        if game.is_terminal(state):
            if len(played) <= len(move.line):
                return tuple(played), True
            pairs = zip(game.utility(state), values, strict=True)
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
        if action is None or action not in game.legal_actions(state):
            break
        state = game.result(state, action)
        played.append(action)
    return tuple(played), False


def _plies(
    search: TreeSearch, state: Any, move: RootMove, finished_line: tuple[int, ...] | None, reach: float
) -> int | None:
    """Moves to the end under best play: those of the soonest win or latest loss, else of a line that ends.

    A win more than ``reach`` moves away may not be the soonest: others were not looked for so far. Where wins need
    not come soon, a win is as far away as one likes.
    """
    frame, traits = search.frame(state), search.game.traits
    if search.selective and not math.isinf(reach):  # a sooner win may have been searched less deep
        return None
    if search.prefers:  # it prefers whole lines, so what it plays is as long as its line
        return len(finished_line) if finished_line is not None else None
    value, distance = move.score
    if traits.terminal_rewards_only and traits.chance is Chance.NONE and value != frame.middle:
        return int(abs(distance)) if frame.sooner and abs(distance) <= reach else None
    return len(finished_line) if finished_line is not None else None
