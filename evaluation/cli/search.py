"""``zermelo search``, ``tree``, ``perft`` and ``warmup``: one position, searched, drawn and counted."""

from __future__ import annotations

import json
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.agents.base.limits import Limits
from zermelo.agents.specs import make_agent
from zermelo.envs.errors import GameOverError, InvalidSettingError, UnknownNameError
from zermelo.envs.game import Traits
from zermelo.envs.registration.registry import OWN_ENVS
from zermelo.envs.traits.merging import PATIENCE
from zermelo.evaluation.cli import arguments, completion

if TYPE_CHECKING:
    from zermelo.agents.base.result import SearchResult


@arguments.takes_limits
def search(
    env: arguments.EnvText,
    agent: arguments.AgentText = "auto",
    moves: arguments.MovesText = "",
    exact: Annotated[bool, typer.Option("--exact")] = False,
    watch: Annotated[bool, typer.Option("--watch")] = False,
    as_json: arguments.Json = False,
    seed: arguments.Seed = 0,
    **limits: Any,
) -> None:
    """Search a position and print the best move, its value and the principal variation.

    The value is for the player to move, in the game's own rewards: 1 is a win if a win pays 1.

    [bold]Examples[/bold]
    $ zermelo search classic/tictactoe-v3 alphabeta --moves 0,1 --exact
    $ zermelo search classic/connect_four-v3 alphabeta --seconds 2 --moves 3,3,2 --watch

    Options:
        exact: The exact value of every action, not only of the best.
        watch: Also a line for each finished iteration.
    """
    from zermelo.envs.adapters.as_game import as_game
    from zermelo.evaluation.match.readiness import require_fit
    from zermelo.evaluation.positions.drawing import drawing

    [agent] = arguments.limited([agent], Limits(**limits))
    searcher: Any = make_agent(agent)
    if not hasattr(searcher, "search"):
        raise InvalidSettingError(
            f"{agent} only returns an action and cannot explain a search: choose an agent that searches"
        )
    settings = {field.name for field in fields(searcher)} if hasattr(searcher, "__dataclass_fields__") else set()
    if exact and "exact" in settings:
        searcher = replace(searcher, exact=True)
    driver = arguments.position_after(env, moves, seed)
    seat = driver.turn()
    if seat is None:
        rewards = ", ".join(f"{reward:g}" for reward in driver.rewards)
        raise GameOverError(f"{env} is over after {moves}: the rewards are {rewards}")
    require_fit(searcher, driver.env, agent)
    game = as_game(driver.env)
    show = _Shower(game, game.snapshot(driver.env))
    if watch:
        if "on_iteration" not in settings:
            raise InvalidSettingError(f"{agent} has no iterations to watch: leave --watch out")
        searcher = replace(searcher, on_iteration=show.iteration)
    searcher.reset(seed)
    if as_json:
        with _interrupts(searcher):
            result = searcher.search(driver.env)
        about = {"env": env, "moves": moves, "player": driver.seat_names[seat], "agent": agent}
        typer.echo(json.dumps(about | result.to_dict()))
        return
    after = f" after {moves}" if moves.strip() else ""
    typer.echo(f"{env}{after}, {driver.seat_names[seat]} to move")
    if board := drawing(game, driver.env):
        typer.echo(f"\n{board}\n")
    with _interrupts(searcher):
        result = searcher.search(driver.env)
    typer.echo(show.result(result, driver.seat_names[seat]))


@contextmanager
def _interrupts(searcher: Any) -> Iterator[None]:
    """Has Ctrl-C end the search, which answers with what it has found; pressed again it ends the program."""
    pressed = False

    def stop(*_: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        searcher.stop()

    if not hasattr(searcher, "stop") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Shower:
    """Results as lines of text."""

    def __init__(self, game: Any, state: Any) -> None:
        self._game, self._state = game, state

    def line(self, *actions: int, width: int = 90) -> str:
        """A principal variation, in the game's own notation too, as far as a line of text has room for it."""
        from zermelo.agents.base.result import one_line
        from zermelo.evaluation.positions.moves import name_of, states_of

        states = states_of(self._game, self._state, actions)
        names = (name_of(self._game, *step) for step in zip(states, actions, strict=True))
        return one_line(names, len(actions), width)

    def ranked(self, numbers: Mapping[int, float], form: str, marked: Collection[int] = ()) -> list[str]:
        ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
        return [f"{self.line(one)}: {number:{form}}{' proven' * (one in marked)}" for one, number in ranked]

    def iteration(self, result: SearchResult) -> None:
        if result.visits:
            progress = f"simulations {result.stats['simulations']:>9,.0f}  value {result.value:>9.4f}"
            visits = "  ".join(self.ranked(result.visits, ",")[:4])
            typer.echo(f"{progress}  {result.seconds:>8.2f} s  visits {visits}")
            return
        typer.echo(
            f"depth {result.depth:>3}  value {result.value:>9.4f}  {result.nodes:>11,} nodes"
            f"  {result.seconds:>8.2f} s  {self.line(*result.principal_variation, width=50)}"
        )

    def result(self, result: SearchResult, player: str) -> str:
        kind = "proven" if result.proven else "estimated from samples" if result.is_estimate else "not proven"
        error = f" +- {result.standard_error:.2g}" if result.standard_error is not None else ""
        plies = f", {result.plies} moves to the end" if result.plies is not None else ""
        others = ", ".join(self.line(action) for action in result.best_actions if action != result.action)
        proven = set(result.proven_actions)
        marked = proven if proven != set(result.action_values) else ()
        speed = f", {result.nodes_per_second:,.0f} nodes a second" if result.nodes_per_second else ""
        compiling = f" after {result.compiling:.2f} s of compiling" if result.compiling >= 0.01 else ""
        depth = f", depth {result.depth}" if result.depth else ""
        cost = f", {1000 * result.leaf_seconds:,.3g} ms each" if result.leaf_seconds >= 1e-4 else ""
        slow = f"in Python, hundreds of times slower than compiled: {result.why_plain}"
        parts = {
            "value": f"{result.value:.6g}{error} for {player} ({kind}{plies})",
            "best": f"{self.line(result.action)}{f' (as good: {others})' if others else ''}",
            "actions": "   ".join(self.ranked(result.action_values, ".4g", marked)),
            "visits": "   ".join(self.ranked(result.visits, ",")),
            "line": self.line(*result.principal_variation) if len(result.principal_variation) > 1 else "",
            "searched": f"{result.nodes:,} nodes{depth}, {result.seconds:.2f} s{compiling}{speed}",
            "leaves": f"{result.evaluator}{cost}" if result.evaluator else "",
            "plain": slow if result.why_plain else "",
            "by": result.method,
            "note": result.note,
            "stopped": _REASONS.get(result.stopped_by.value, result.stopped_by.value),
        }
        lines = {name: f"{name:10}{text}" for name, text in parts.items() if text}
        for name in {"actions", "visits"} & lines.keys():
            lines[name] = textwrap.fill(lines[name], 100, subsequent_indent=" " * 10)
        return "\n".join(lines.values())


_REASONS = {
    "completed": "completed: more time would change nothing",
    "depth": "at the depth limit",
    "nodes": "at the node limit",
    "simulations": "at the limit on simulations",
    "seconds": "at the time limit",
    "interrupt": "when asked to",
}


def perft_command(
    env: arguments.EnvText,
    depth: Annotated[int, typer.Argument(min=0, metavar="DEPTH")],
    moves: arguments.MovesText = "",
    split: Annotated[bool, typer.Option("--split")] = False,
    as_json: arguments.Json = False,
    seed: arguments.Seed = 0,
) -> None:
    """Count the leaves of the game tree at a depth.

    Games that end earlier are not counted, so that the numbers can be compared with published tables.

    [bold]Example[/bold]
    $ zermelo perft classic/connect_four-v3 4 --split

    Options:
        depth: Moves to look ahead.
        split: Also the count below each move.
    """
    from zermelo.envs.counting import perft
    from zermelo.evaluation.positions.moves import name_of

    game, state = arguments.game_after(env, moves, seed)
    started = time.perf_counter()
    names = {}
    if split and depth > 0:
        counts = perft(game, depth, state=state, split=True)
        names = {name_of(game, state, action): below for action, below in counts.items()}
    count = sum(names.values()) if names else perft(game, depth, state=state)
    seconds = time.perf_counter() - started
    if as_json:
        about = {"env": env, "moves": moves, "depth": depth, "leaves": count, "split": names}
        arguments.print_json(about | {"seconds": seconds})
        return
    for name, below in names.items():
        typer.echo(f"{name}: {below:,}")
    speed = f", {count / seconds:,.0f} leaves a second" if seconds > 0 else ""
    typer.echo(f"{count:,} leaves at depth {depth} ({seconds:.2f} s{speed})")


_USUAL = ("zermelo/ConnectFour-v0", "zermelo/MNK-v0")  # those of PettingZoo too


def warmup(
    envs: Annotated[
        list[str] | None, typer.Argument(metavar="[ENV]...", autocompletion=completion.environments)
    ] = None,
    every: Annotated[bool, typer.Option("--all")] = False,
    seconds: Annotated[float, typer.Option(min=0.0)] = PATIENCE,
) -> None:
    """Prepare games in advance, so that the first search of each starts at once.

    Rules are compiled, and the machine code is kept on disk. For environments without rules, random play on copies
    shows what they are: whether they hide something, leave something to chance, or pay one player what another
    loses. That is kept as well; what did not show is assumed, and can be declared. What is prepared already takes
    a moment.

    [bold]Examples[/bold]
    $ zermelo warmup
    $ zermelo warmup classic/connect_four-v3 "mygames:MyRules(size=4)"

    Options:
        envs: Environments; by default Connect Four and tic-tac-toe (PettingZoo's and ours).
        every: All games of this package.
        seconds: Time for finding out what an environment is, in seconds, for each.
    """
    from zermelo.agents.warmup import kernels_of, warm_up
    from zermelo.envs.adapters.as_game import as_game
    from zermelo.envs.rules.rules_game import RulesGame

    if every and envs:
        raise InvalidSettingError("give environments or --all, not both")
    names = list(OWN_ENVS) if every else envs or list(_USUAL)
    for name in names:
        begun = time.perf_counter()
        game = as_game(arguments.position_after(name, "", 0).env, patience=seconds)
        if not isinstance(game, RulesGame):
            typer.echo(f"{name}: nothing to compile  ({time.perf_counter() - begun:.1f} s)")
            _print_traits(game.traits)
        elif not kernels_of(game):
            typer.echo(f"{name}: nothing to compile")
        else:
            typer.echo(f"{name}:", nl=False)
            taken = warm_up(game, on_kernel=_print_kernel)
            typer.echo(f"  (together {sum(taken.values()):.1f} s)")


_TRAITS = ("information", "chance", "reward_sum")


def _print_traits(traits: Traits) -> None:
    for name in _TRAITS[: 2 + (traits.seats > 1)]:
        typer.echo(f"  {name:<12}  {getattr(traits, name)!s:<13}  {traits.source(name)}")
    if traits.assumed:
        assumed = {name: str(getattr(traits, name)) for name in traits.assumed}
        typer.echo(f"  If what is assumed is right, say so in its class: zermelo_traits = {assumed}")


def _print_kernel(kernel: str, seconds: float) -> None:
    typer.echo(f"  {kernel} {seconds:.1f} s", nl=False)
    sys.stdout.flush()


_BOOK_DEPTH = 4


@arguments.takes_limits
def tree(
    env: Annotated[str, typer.Argument(metavar="ENV", autocompletion=completion.environments)],
    agent: Annotated[str, typer.Argument(metavar="AGENT", autocompletion=completion.agents)] = "",
    moves: arguments.MovesText = "",
    book: Annotated[str, typer.Option("--book", metavar="FILE")] = "",
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("tree.html"),
    step: Annotated[int | None, typer.Option(min=0)] = None,
    seed: arguments.Seed = 0,
    **limits: Any,
) -> None:
    """Draw a search as a tree to go through step by step.

    The page shows windows and values as they change, and cut-offs; it works offline. The search runs in plain
    Python and records every node, so it is slow: limit its depth, nodes or simulations.

    Figures of Russell and Norvig's textbook (4th edition): aima-5.2 (minimax), aima-5.4 (maxn), aima-5.5
    (alphabeta), aima-5.13, aima-5.14a and aima-5.14b (expectiminimax); in the 3rd edition aima-5.11, aima-5.12a
    and aima-5.12b.

    [bold]Examples[/bold]
    $ zermelo tree aima-5.5 alphabeta --out tree.html
    $ zermelo tree classic/tictactoe-v3 alphabeta --depth 3 --moves 0,4 --out tree.svg

    Options:
        env: An environment, a textbook's figure such as aima-5.5, or a tree such as "[[3, 12, 8], [2, 4, 6], [14,
            5, 2]]".
        agent: An agent, such as alphabeta.
        book: Print the lines of this opening book.
        out: The file to write: a page (.html) or a figure (.svg).
        step: For a figure: the tree after this step of the search.
    """
    from zermelo.envs.trees import list_figures
    from zermelo.evaluation.search_trees.drawing import check_file, draw_tree, tree_of_text

    if book:
        _print_book(env, moves, book, limits["depth"] or _BOOK_DEPTH)
        return
    if not agent:
        raise InvalidSettingError("a tree is drawn of an agent's search: name an AGENT, or a book with --book")
    check_file(out, step)
    [agent] = arguments.limited([agent], Limits(**limits))
    source: Any = tree_of_text(env)
    played = moves
    if source is None:
        try:
            source, played = arguments.position_after(env, moves, seed).env, ""
        except UnknownNameError as error:
            raise UnknownNameError(f"{error}; figures are {', '.join(list_figures())}") from None
    drawn = draw_tree(source, agent, moves=played, seed=seed, title=env)
    path = drawn.save(out, step)
    one = drawn.shown
    steps = f"{one.steps:,} {'simulations' if drawn.tree.simulates else 'steps'}"
    typer.echo(f"{drawn.tree.answer} is worth {drawn.tree.value:.6g} to {drawn.tree.seats[drawn.tree.seat]}")
    for note in drawn.tree.notes:
        typer.echo(note)
    typer.echo(f"The tree is in {path} ({len(one.nodes):,} nodes, {steps}, {path.stat().st_size / 1e3:,.0f} kB)")


def _print_book(env: str, moves: str, book: str, depth: int) -> None:
    from zermelo.agents.knowledge.books import outline
    from zermelo.evaluation.positions.moves import name_of

    game, state = arguments.game_after(env, moves, 0)
    for line in outline(book, game, state, depth=depth, name=name_of):
        typer.echo(line)
