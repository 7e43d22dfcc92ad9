"""Positions of random games, each once, with what a search says of them: targets for supervised learning."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import local
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import StopFlag
from zermelo.agents.base.playouts import after, draw_outcome
from zermelo.agents.base.requirements import require_decision
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import check_whole
from zermelo.agents.base.tasks import PureWork, Tasks
from zermelo.agents.kernels.threads import number_of_threads
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import make_agent
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.capabilities import SupportsObservations, offers
from zermelo.envs.errors import GameOverError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import CHANCE
from zermelo.envs.position import position
from zermelo.envs.registration.make import make
from zermelo.envs.support.calls import checked_call

_POLL: Final = 0.02


@checked_call
def search_many(
    game: Any, states: Iterable[Any], agent: AlphaBetaAgent | None = None, *, threads: int | None = None
) -> list[SearchResult]:
    """Searches many states of one game by alpha-beta, each on its own, in as many threads as there are processors.

    The results, in the order of the states, do not depend on the number of threads (unless there is a limit in
    seconds): each state is searched by one thread, with an empty table. Ties are drawn for state number ``i`` from
    the agent's seed and ``i``. The settings are those of ``agent``, each thread with its ``memory_mb``; without
    one they are those of ``AlphaBetaAgent(memory_mb=1)``.

    Args:
        game: The game, or what ``as_game`` makes one of.
        states: The states.
        agent: The agent whose settings are taken.
        threads: Threads; by default one a processor.

    Raises:
        UnsupportedGameError: Alpha-beta cannot search the game.
        GameOverError: There is nothing to decide in one of the states; the message says in which.
        InvalidSettingError: ``agent`` is another kind of agent.
    """
    agent = AlphaBetaAgent(memory_mb=1) if agent is None else agent
    if not isinstance(agent, AlphaBetaAgent):
        raise InvalidSettingError(f"search_many takes an AlphaBetaAgent, not agent={agent!r}")
    threads = number_of_threads(threads)
    stop = StopFlag()
    waiting = list(states)
    root = position(game)
    game = root.game
    agent.check_game(game)
    for number, state in enumerate(waiting):
        try:
            require_decision(game, state)
        except GameOverError as error:
            raise GameOverError(f"state number {number} of {len(waiting)} (from 0): {error}") from None

    own = local()

    def search(number: int) -> SearchResult:
        if not hasattr(own, "agent"):
            own.agent = dataclasses.replace(agent)
            own.agent.stop_by(stop)
        own.agent.reset(agent.seed + number)
        result: SearchResult = own.agent.search_state(game, waiting[number])
        return result

    if threads == 1 or not agent.kernels(root):
        return [search(number) for number in range(len(waiting))]
    with ThreadPoolExecutor(threads, thread_name_prefix="zermelo-batch") as pool:
        left = set(running := [pool.submit(search, number) for number in range(len(waiting))])
        try:
            while left:  # Ctrl-C is heeded between two waits
                done, left = wait(left, timeout=_POLL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException:  # whatever goes wrong, or Ctrl-C, stops them all
            stop.is_set = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in running]


COLUMNS: Final[dict[str, Any]] = {
    "position": int,  # the number of the row
    "game": int,  # the number of its game
    "ply": int,  # the moves before, chance's included
    "moves": list[int],  # these, as ``Game.result`` takes them; chance that is only simulated has none
    "seat": int,  # the player to move
    "observation": list[float],  # of that player, as one list
    "shape": list[int],  # of the observation
    "action_mask": list[bool],  # true for each legal action
    "value": float,  # for the player to move, in the game's own utility
    "values": list[float],  # for each seat
    "proven": bool,  # whether the value is certain
    "best": int,  # the action that the agent plays
    "policy": list[float],  # the share of simulations that followed each action, else equal ones of the best
    "action_values": list[float],  # for the player to move; None where the agent does not say
    "nodes": int,  # states that the agent visited
}
_BATCH: Final = 64
_FRUITLESS_GAMES: Final = 1_000  # games in a row without a new position after which no more are expected


class _Position(NamedTuple):
    game: int
    ply: int
    moves: list[int]
    state: Any


@checked_call
def label_positions(
    env: str | Any, *, positions: int = 1_000, agent: str | SearchAgent = "auto", seed: int = 0, runner: Any = None
) -> Iterator[dict[str, Any]]:
    """Positions of an environment as rows of ``COLUMNS``, each searched by an agent.

    Args:
        env: A name that ``make`` takes, a live environment or a game.
        positions: Rows, at most; fewer if random games reach no more positions.
        agent: A searching agent or its spec.
        seed: Seed of the positions and of the agent.
        runner: Runs batches elsewhere, as ``zermelo.evaluation.workers`` do; the rows are the same.

    Raises:
        InvalidSettingError: The agent does not search, or a number is wrong.
        UnsupportedGameError: The agent cannot search the game, or the game has no observations.
    """
    check_whole("positions", positions, lower=1)
    check_whole("seed", seed)
    work = LabelWork(env, agent, positions, seed)
    if not isinstance(work.searcher, SearchAgent):
        raise InvalidSettingError(
            f"{getattr(work.searcher, 'name', agent)} does not search: positions need a value"
        )
    work.searcher.check_game(work.game)
    return _in_order(work, runner)


def _in_order(work: LabelWork, runner: Any) -> Iterator[dict[str, Any]]:
    with contextlib.closing(Tasks(work, runner)) as tasks:
        for rows in tasks.map(range(-(-work.positions // _BATCH))):
            yield from rows


@dataclass
class LabelWork(PureWork):
    """Batches of positions, by number, as tasks of a runner; all positions before a batch are drawn with it."""

    env: str | Any
    agent: str | SearchAgent
    positions: int
    seed: int

    def __post_init__(self) -> None:
        self._next = math.inf

    @functools.cached_property
    def searcher(self) -> Any:
        return make_agent(self.agent)

    @functools.cached_property
    def game(self) -> Any:
        made = make(self.env) if isinstance(self.env, str) else self.env
        if hasattr(made, "possible_agents"):
            made.reset(seed=0)
        game = as_game(made)
        if not offers(game, SupportsObservations):
            raise UnsupportedGameError(f"{game.traits.name} has no observations, which a row would hold")
        return game

    def run(self, item: int, on_turn: Callable[[int], None] | None = None) -> list[dict[str, Any]]:
        if item < self._next:
            self._drawn, self._next = _positions(self.game, np.random.default_rng(self.seed)), 0
        first = item * _BATCH
        collections.deque(itertools.islice(self._drawn, first - int(self._next) * _BATCH), maxlen=0)
        batch = list(itertools.islice(self._drawn, min(_BATCH, self.positions - first)))
        self._next = item + 1
        game, agent, seed = self.game, self.searcher, self.seed + first
        agent.reset(seed)
        states = [position.state for position in batch]
        if isinstance(agent, AlphaBetaAgent):
            results = search_many(game, states, agent=dataclasses.replace(agent, seed=seed))
        else:
            results = [agent.search_state(game, state) for state in states]
        return [
            {"position": first + number, **_row(game, position, result)}
            for number, (position, result) in enumerate(zip(batch, results, strict=True))
        ]


def _positions(game: Any, generator: np.random.Generator) -> Iterator[_Position]:
    keys: set[Any] = set()
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
                if key not in keys:
                    keys.add(key)
                    fruitless = 0
                    yield _Position(number, ply, list(moves), state)
                actions = game.legal_actions(state)
                move = int(actions[int(generator.integers(len(actions)))])
                state = after(game, state, move, generator)
            moves.append(move)
            ply += 1


def _row(game: Any, position: _Position, result: Any) -> dict[str, Any]:
    state = position.state
    seat, legal = game.to_move(state), list(game.legal_actions(state))
    size = game.traits.num_actions or max(legal) + 1
    seen = np.asarray(game.observation(state, seat))
    return {
        "game": position.game,
        "ply": position.ply,
        "moves": position.moves,
        "seat": seat,
        "observation": seen.ravel().astype(float).tolist(),
        "shape": list(seen.shape),
        "action_mask": np.isin(np.arange(size), legal).tolist(),
        "value": float(result.value),
        "values": [float(value) for value in result.values_by_seat],
        "proven": bool(result.proven),
        "best": int(result.action),
        "policy": _policy(result, legal, size),
        "action_values": [result.action_values.get(action) for action in range(size)],
        "nodes": int(result.nodes),
    }


def _policy(result: Any, legal: list[int], size: int) -> list[float]:
    policy = [0.0] * size
    total = sum(result.visits.values()) if result.visits else 0
    if total and not result.proven:
        shares = {action: visits / total for action, visits in result.visits.items()}
    else:
        top = result.action_values.get(result.action)
        best = [a for a in legal if top is not None and result.action_values.get(a) == top] or [result.action]
        shares = dict.fromkeys(best, 1.0 / len(best))
    for action, share in shares.items():
        policy[action] = share
    return policy
