"""Positions of a game with what a search says of them: targets for supervised learning.

A row is a position: how to get there, what its player sees, and the answer of an agent. Positions come from games
in which every move is drawn, so that bad ones are there too; none comes twice.

=================  =============================================================================================
``position``       the number of the row
``game``           the number of the game it comes from
``ply``            moves before it, chance's included
``moves``          these, as ``Game.result`` takes them; chance that is only simulated has none
``seat``           the player to move
``observation``    what that player sees, as one list; ``shape`` says how to read it
``action_mask``    true for each legal action
``value``          what the position is worth to the player to move, in the game's own utility
``values``         to each seat
``proven``         whether that is certain
``best``           the action that the agent plays
``policy``         a probability for each action: the share of simulations that followed it, else the same for all
                   best ones
``action_values``  what each action is worth to the player to move; None where the agent does not say
``nodes``          states that the agent visited
=================  =============================================================================================
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents import make_agent, search_many
from zermelo.agents.core.checks import check_whole
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import CHANCE, Chance, InvalidSettingError, UnsupportedGameError, as_game, make
from zermelo.envs.files import replaced
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.output import TABLES, ExportFormat
from zermelo.evaluation.output.table_files import table_writer

COLUMNS: Final[dict[str, Any]] = {
    "position": int,
    "game": int,
    "ply": int,
    "moves": list[int],
    "seat": int,
    "observation": list[float],
    "shape": list[int],
    "action_mask": list[bool],
    "value": float,
    "values": list[float],
    "proven": bool,
    "best": int,
    "policy": list[float],
    "action_values": list[float],
    "nodes": int,
}
_BATCH: Final = 64
_IN_VAIN: Final = 1_000
"""After so many games in a row without a new position there are taken to be no more."""


@dataclasses.dataclass(frozen=True)
class Labels:
    """What was written.

    Attributes:
        path: The file.
        positions: How many rows it has.
        proven: How many of their values are certain.
        games: How many games they come from.
        was_stopped: Whether Ctrl-C came; otherwise it has as many positions as were asked for, or all there are.
    """

    path: Path
    positions: int
    proven: int
    games: int
    was_stopped: bool


@dataclasses.dataclass(frozen=True)
class _Position:
    """A position, and how it was reached."""

    game: int
    ply: int
    moves: list[int]
    state: Any


def label_positions(
    env: str | Any,
    out: str | os.PathLike[str],
    *,
    positions: int = 1_000,
    agent: str | SearchAgent = "auto",
    seed: int = 0,
    on_position: Callable[[int], None] | None = None,
) -> Labels:
    """Writes positions of an environment with what an agent says of them; the module's text has the columns.

    Args:
        env: A name that ``make`` takes, a live environment or a game.
        out: The file, ending in .parquet, .json or .csv.
        positions: How many to write.
        agent: A searching agent or its spec; alpha-beta searches in as many threads as there are processors.
        seed: Decides the positions, and the agent's random numbers.
        on_position: Called with the number of positions that are labelled.

    Returns:
        What was written; after Ctrl-C the positions labelled so far.

    Raises:
        InvalidSettingError: The ending is another, or the agent does not search.
        UnsupportedGameError: The agent cannot search the game, or no player sees anything of it.
        StoreError: The file cannot be written.
    """
    check_whole("positions", positions, lower=1)
    check_whole("seed", seed)
    path = Path(out)
    form = path.suffix.removeprefix(".")
    if form not in TABLES:
        raise InvalidSettingError(f"the file must end in .{', .'.join(TABLES)}, not {path.name!r}")
    writer = table_writer(ExportFormat(form))
    searcher: Any = make_agent(agent)
    if not isinstance(searcher, SearchAgent):
        raise InvalidSettingError(f"{getattr(searcher, 'name', agent)} does not search: positions need a value")
    game = _game(env)
    searcher.check_game(game.traits)
    drawn = _positions(game, np.random.default_rng(seed))
    searcher.reset(seed)
    count = proven = games = 0
    was_stopped = True
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            replaced(path) as file,
            contextlib.closing(writer(file, COLUMNS)) as rows,
            contextlib.suppress(KeyboardInterrupt),
        ):
            while count < positions and (batch := _some(drawn, min(_BATCH, positions - count))):
                for position, found in zip(batch, _searched(game, searcher, batch, seed + count), strict=True):
                    rows.add({"position": count, **_row(game, position, found)})
                    count, proven = count + 1, proven + found.proven
                    games = max(games, position.game + 1)
                    if on_position is not None:
                        on_position(count)
            was_stopped = False
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
    return Labels(path, count, proven, games, was_stopped)


def _game(env: Any) -> Any:
    """The game of an environment, if its players see something."""
    made = make(env) if isinstance(env, str) else env
    if hasattr(made, "possible_agents"):
        made.reset(seed=0)
    game = as_game(made)
    if not hasattr(game, "observation"):
        raise UnsupportedGameError(f"{game.traits.name} does not say what its players see, which a row would have")
    return game


def _positions(game: Any, generator: np.random.Generator) -> Iterator[_Position]:
    """Positions in which a player has to decide, none twice, from games at random."""
    known: set[Any] = set()
    number = fruitless = 0
    while fruitless < _IN_VAIN:
        fruitless += 1
        state, ply = game.initial_state(), 0
        moves: list[int] = []
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                shares = np.array([probability for _, probability in outcomes])
                move = int(outcomes[int(generator.choice(len(outcomes), p=shares / shares.sum()))][0])
                state = game.result(state, move)
            else:
                key = game.key(state)
                if key not in known:
                    known.add(key)
                    fruitless = 0
                    yield _Position(number, ply, list(moves), state)
                actions = game.legal_actions(state)
                move = int(actions[int(generator.integers(len(actions)))])
                is_drawn = game.traits.chance is Chance.SAMPLED
                state = game.sample_result(state, move, generator) if is_drawn else game.result(state, move)
            moves.append(move)
            ply += 1
        number += 1


def _some(positions: Iterator[_Position], most: int) -> list[_Position]:
    return [position for position, _ in zip(positions, range(most), strict=False)]


def _searched(game: Any, agent: Any, batch: list[_Position], seed: int) -> list[Any]:
    """What the agent says of each."""
    states = [position.state for position in batch]
    if isinstance(agent, AlphaBetaAgent):
        return search_many(game, states, agent=dataclasses.replace(agent, seed=seed))
    return [agent.search_state(game, state) for state in states]


def _row(game: Any, position: _Position, found: Any) -> dict[str, Any]:
    """The columns but for the number."""
    state = position.state
    seat = game.to_move(state)
    size = game.traits.num_actions or max(game.legal_actions(state)) + 1
    legal = list(game.legal_actions(state))
    seen = np.asarray(game.observation(state, seat))
    mask = [False] * size
    for action in legal:
        mask[action] = True
    values: list[float | None] = [None] * size
    for action, value in found.action_values.items():
        values[action] = float(value)
    return {
        "game": position.game,
        "ply": position.ply,
        "moves": position.moves,
        "seat": seat,
        "observation": seen.ravel().astype(float).tolist(),
        "shape": list(seen.shape),
        "action_mask": mask,
        "value": float(found.value),
        "values": [float(value) for value in found.values_by_seat],
        "proven": bool(found.proven),
        "best": int(found.action),
        "policy": _policy(found, legal, size),
        "action_values": values,
        "nodes": int(found.nodes),
    }


def _policy(found: Any, legal: list[int], size: int) -> list[float]:
    """The share of visits, where there are any and nothing is proven; else all best actions alike."""
    policy = [0.0] * size
    total = sum(found.visits.values()) if found.visits else 0
    if total and not found.proven:
        for action, visits in found.visits.items():
            policy[action] = visits / total
        return policy
    known = {action: value for action, value in found.action_values.items() if action in legal}
    top = known.get(found.action)
    best = [action for action, value in known.items() if top is not None and value == top] or [found.action]
    for action in best:
        policy[action] = 1.0 / len(best)
    return policy
