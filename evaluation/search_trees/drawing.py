"""``draw_tree``: a search as a tree, to look at in a browser, a notebook or a paper."""

from __future__ import annotations

import ast
import dataclasses
import html
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Ties, check_whole
from zermelo.agents.tree_search.agent import TreeSearchAgent
from zermelo.agents.tree_search.interface import RootRequest
from zermelo.envs.adapters.as_game import as_game, is_game
from zermelo.envs.errors import GameOverError, IllegalActionError, InvalidSettingError
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call
from zermelo.envs.trees import TreeGame, figure, tree_game
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.sources import build_agent, build_env, is_live
from zermelo.evaluation.positions.moves import play_moves
from zermelo.evaluation.search_trees.model import SearchPass, SearchTree
from zermelo.evaluation.search_trees.names import move_text
from zermelo.evaluation.search_trees.page import tree_page
from zermelo.evaluation.search_trees.record import SearchRecorder
from zermelo.evaluation.search_trees.simulations import SimulationRecorder
from zermelo.evaluation.search_trees.svg import tree_svg
from zermelo.evaluation.storage.files import write_text

MAX_NODES: Final = 10_000
PATIENCE: Final = 200_000  # nodes, or simulations, that are searched at most
_HEIGHT: Final = 640
_LISTED: Final = 30


@dataclass(frozen=True)
class TreeDrawing:
    """A search, drawn. In a notebook it shows itself, with its steps to go through.

    ``result`` is what the search answered.
    """

    tree: SearchTree
    result: SearchResult

    @property
    def shown(self) -> SearchPass:
        """The search of the root that is shown: the last one that was finished, of several."""
        return self.tree.passes[self.tree.shown]

    def svg(self, step: int | None = None) -> str:
        """The tree as SVG, for papers: the whole search, or as it was after a step."""
        if step is not None:
            check_whole("step", step)
            if step > self.shown.steps:
                raise InvalidSettingError(
                    f"step must be at most {self.shown.steps}, as the search has no more: {step}"
                )
        return tree_svg(self.tree, step)

    def html(self) -> str:
        """The page: the tree with its steps to go through, which works offline."""
        return tree_page(self.tree)

    def save(self, path: str | os.PathLike[str], step: int | None = None) -> Path:
        """Writes a page (.html), or a figure (.svg) with a step as ``svg`` takes it."""
        target = Path(path)
        check_file(target, step)
        write_text(target, self.html() if target.suffix.lower() == ".html" else self.svg(step))
        return target

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" title="Search tree" width="100%" height="{_HEIGHT}"></iframe>'


def check_file(path: Path, step: int | None) -> None:
    kind = path.suffix.lower()
    if kind not in (".html", ".svg"):
        raise InvalidSettingError(f"a tree is written as .html or .svg: name such a file, not {str(path)!r}")
    if kind == ".html" and step is not None:
        raise InvalidSettingError("a page has all steps: leave the step out, or write an .svg file")


@checked_call
def draw_tree(
    source: Any,
    agent: Any,
    *,
    state: Any = None,
    moves: str | Sequence[int] = (),
    max_nodes: int = MAX_NODES,
    seed: int = 0,
    title: str = "",
) -> TreeDrawing:
    """Searches a position and draws what the search did, node by node.

    The search runs in plain Python, so it is slow; limit the agent's depth, nodes or simulations. Values are for
    the player to move. Of a search that deepens step by step the last iteration that was finished is shown.

    Args:
        source: An environment, by name or live and reset, which is not changed; a game or rules; nested lists as
            ``zermelo.envs.trees.tree_game`` takes them; or the name of a textbook's figure: ``"aima-5.5"``.
        agent: An agent that searches a tree, or its text: ``minimax``, ``alphabeta``, ``expectiminimax``,
            ``expectimax``, ``maxn``, ``paranoid``, ``bestreply`` or ``mcts``.
        state: Of a game, where to search; by default its initial state.
        moves: What to play first: numbers, or text such as ``"3,3,2"`` or ``"e4 e5"``.
        max_nodes: How many nodes to draw at most. Of a larger tree the deepest levels are left out, or what was
            visited fewest times.
        seed: Decides everything random.
        title: What the page calls the game; by default its name.

    Raises:
        InvalidSettingError: The agent has no tree that could be drawn, or a setting is wrong.
        UnsupportedGameError: The agent cannot search this game.
        GameOverError: There is nothing to search.
        IllegalActionError: One of the moves is not legal.
    """
    check_whole("max_nodes", max_nodes, lower=1)
    game, start, name = _position(source, state, moves, seed)
    name = title or name
    if game.is_terminal(start):
        raise GameOverError(f"{name} is over there: there is nothing to search")
    searcher, recorder = _watched(build_agent(agent), game, max_nodes)
    searcher.reset(seed)
    result = searcher.search_state(game, start)
    passes, view = recorder.passes(), recorder.view
    if not passes:
        raise InvalidSettingError(f"{searcher.name} had no time to search: give it more")
    last = max((number for number, one in enumerate(passes) if one.finished), default=len(passes) - 1)
    draws = isinstance(searcher, TreeSearchAgent) and searcher.root_request == RootRequest(ties=Ties.RANDOM)
    tree = SearchTree(
        name, searcher.name, game.traits.seat_names, view.seat, tuple(passes), last,
        move_text(game, start, result.action), result.values_by_seat[view.seat], view.bounds,
        tuple(_notes(passes[last], recorder.stopped, max_nodes, draws)),
    )  # fmt: skip
    return TreeDrawing(tree, result)


def _watched(agent: Any, game: Game[Any], max_nodes: int) -> tuple[Any, SearchRecorder | SimulationRecorder]:
    fields = {field.name for field in dataclasses.fields(agent)} if dataclasses.is_dataclass(agent) else set()
    settings: dict[str, Any] = {"name": agent.name}
    recorder: SearchRecorder | SimulationRecorder
    if "on_simulation" in fields:
        recorder = settings["on_simulation"] = SimulationRecorder(game, max_nodes, PATIENCE)
    elif "on_node" in fields:
        recorder = settings["on_node"] = SearchRecorder(max_nodes, PATIENCE)
    else:
        raise InvalidSettingError(
            f"{agent.name} has no tree that can be drawn: choose minimax, alphabeta, expectiminimax, expectimax, "
            "maxn, paranoid, bestreply or mcts"
        )
    if "seconds" in fields and agent.seconds == "auto":
        settings["seconds"] = None  # the whole tree is drawn, if nothing limits it
    watched = dataclasses.replace(agent, **settings)
    recorder.stop = watched.stop
    return watched, recorder


def tree_of_text(text: str) -> TreeGame | None:
    """The game of a figure's name, or of nested lists as text; None for any other text."""
    if text.lower().startswith("aima"):
        return figure(text)
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        nested = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise InvalidSettingError(
            f"cannot read the tree {text[:60]!r}: write lists of numbers, such as [[3, 12, 8], [2, 4, 6]]"
        ) from None
    return tree_game(nested)


def _position(source: Any, state: Any, moves: str | Sequence[int], seed: int) -> tuple[Game[Any], Any, str]:
    if isinstance(source, list | dict):
        source = tree_game(source)
    elif isinstance(source, str):
        source = tree_of_text(source) or source
    if isinstance(source, str) or is_live(source):
        if state is not None:
            raise InvalidSettingError("a state goes with a game: of an environment, say the moves that lead there")
        if isinstance(source, str):
            driver = drive_env(build_env(source)[0], seed)
            play_moves(driver, moves if isinstance(moves, str) else ",".join(map(str, moves)), "moves")
            source, moves = driver.env, ()
        game = as_game(source)
        state = game.snapshot(source)
    else:
        game = as_game(source)
        if not is_game(game):
            raise InvalidSettingError(f"an environment, a game or nested lists are searched, not {source!r}")
        state = game.initial_state() if state is None else state
    return game, _after(game, state, moves), game.traits.name


def _after(game: Game[Any], state: Any, moves: str | Sequence[int]) -> Any:
    words = moves.replace(",", " ").split() if isinstance(moves, str) else moves
    for place, move in enumerate(words, start=1):
        legal: list[int] = []
        if not game.is_terminal(state):
            is_chance = game.to_move(state) < 0
            legal = [one for one, _ in game.chance_outcomes(state)] if is_chance else [*game.legal_actions(state)]
        meant = [action for action in legal if move in (action, str(action), move_text(game, state, action))]
        if len(meant) != 1:
            listed = ", ".join(move_text(game, state, action) for action in legal[:_LISTED]) or "none"
            raise IllegalActionError(f"move {place} is {move!r}, which is not legal there (legal: {listed})")
        state = game.result(state, meant[0])
    return state


def _looks_at_ties(one: SearchPass) -> bool:
    """Whether a move of the root was followed where it could only be as good as the best before it."""
    root, *others = one.nodes
    best = root.known[-1].low if root.known else math.nan
    tried = iter([node for node in others if node.parent == 0])
    is_best = any(node.known and node.known[-1].low == node.known[-1].high == best for node in tried)
    return is_best and any(best in (span.low, span.high) for node in tried for span in node.known)


def _notes(one: SearchPass, is_stopped: bool, max_nodes: int, draws: bool) -> Iterator[str]:
    if one.visited > len(one.nodes):
        less = ", or were visited less." if one.outcomes else "."
        drawn = f"{len(one.nodes):,} of {one.visited:,} nodes are drawn (at most {max_nodes:,})"
        yield f"{drawn}: the others lie deeper{less}"
    if is_stopped:
        what = "simulations" if one.outcomes else "nodes: give the agent a limit such as a depth"
        yield f"The search was stopped after {PATIENCE:,} {what}."
    if not one.finished:
        yield "This search was not finished."
    elif draws and _looks_at_ties(one):
        yield (
            "Moves that may be as good as the best are looked at too, as one of the best is drawn; textbooks "
            "count nodes with ties='first'."
        )
