"""Positions of a game with what a search says of them: targets for supervised learning.

A row is a position: the moves that lead to it, the observation of its player, and the answer of an agent.
Positions come from random games, so that bad ones are there too; none comes twice.

=================  =============================================================================================
``position``       the number of the row; ``game`` that of its game, ``ply`` the moves before, chance's included
``moves``          these, as ``Game.result`` takes them; chance that is only simulated has none
``observation``    of ``seat``, the player to move, as one list, to be reshaped to ``shape``
``action_mask``    true for each legal action
``value``          for the player to move, in the game's own utility; ``values`` for each seat
``proven``         whether the value is certain
``best``           the action that the agent plays
``policy``         the share of simulations that followed each action, else equal shares of all best actions
``action_values``  for the player to move; None where the agent does not say
``nodes``          states that the agent visited
=================  =============================================================================================
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from zermelo.agents.core.playouts import after, draw_outcome
from zermelo.agents.core.settings import check_whole
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.players.search_many import search_many
from zermelo.agents.specs import make_agent
from zermelo.envs import CHANCE, InvalidSettingError, UnsupportedGameError, as_game, make

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
_FRUITLESS_GAMES: Final = 1_000
"""Games in a row without a new position after which no more are expected."""


@dataclasses.dataclass(frozen=True)
class _Position:
    game: int
    ply: int
    moves: list[int]
    state: Any


def label_positions(
    env: str | Any, *, positions: int = 1_000, agent: str | SearchAgent = "auto", seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Rows of ``COLUMNS``: positions of an environment, searched by an agent.

    Args:
        env: A name that ``make`` takes, a live environment or a game.
        positions: Rows, at most; fewer if random games reach no more positions.
        agent: A searching agent or its spec; alpha-beta searches in as many threads as there are processors.
        seed: Seed of the positions and of the agent.

    Raises:
        InvalidSettingError: The agent does not search, or a number is wrong.
        UnsupportedGameError: The agent cannot search the game, or the game has no observations.
    """
    check_whole("positions", positions, lower=1)
    check_whole("seed", seed)
    searcher: Any = make_agent(agent)
    if not isinstance(searcher, SearchAgent):
        raise InvalidSettingError(f"{getattr(searcher, 'name', agent)} does not search: positions need a value")
    game = _game(env)
    searcher.check_game(game)
    return _rows(game, searcher, positions, seed)


def _rows(game: Any, agent: SearchAgent, positions: int, seed: int) -> Iterator[dict[str, Any]]:
    agent.reset(seed)
    drawn = itertools.islice(_positions(game, np.random.default_rng(seed)), positions)
    count = 0
    while batch := list(itertools.islice(drawn, _BATCH)):
        for position, found in zip(batch, _searched(game, agent, batch, seed + count), strict=True):
            yield {"position": count, **_row(game, position, found)}
            count += 1


def _game(env: Any) -> Any:
    made = make(env) if isinstance(env, str) else env
    if hasattr(made, "possible_agents"):
        made.reset(seed=0)
    game = as_game(made)
    if not hasattr(game, "observation"):
        raise UnsupportedGameError(f"{game.traits.name} has no observations, which a row would hold")
    return game


def _positions(game: Any, generator: np.random.Generator) -> Iterator[_Position]:
    """Different positions of random games in which a player is to move."""
    known: set[Any] = set()
    fruitless = 0
    for number in itertools.count():
        fruitless += 1
        if fruitless > _FRUITLESS_GAMES:
            return
        state, ply = game.initial_state(), 0
        moves: list[int] = []
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                move = draw_outcome(game.chance_outcomes(state), generator)
                state = game.result(state, move)
            else:
                key = game.key(state)
                if key not in known:
                    known.add(key)
                    fruitless = 0
                    yield _Position(number, ply, list(moves), state)
                actions = game.legal_actions(state)
                move = int(actions[int(generator.integers(len(actions)))])
                state = after(game, state, move, generator)
            moves.append(move)
            ply += 1


def _searched(game: Any, agent: Any, batch: list[_Position], seed: int) -> list[Any]:
    states = [position.state for position in batch]
    if isinstance(agent, AlphaBetaAgent):
        return search_many(game, states, agent=dataclasses.replace(agent, seed=seed))
    return [agent.search_state(game, state) for state in states]


def _row(game: Any, position: _Position, found: Any) -> dict[str, Any]:
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
    """Shares of visits, if there are any and nothing is proven; else equal shares of all best actions."""
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
