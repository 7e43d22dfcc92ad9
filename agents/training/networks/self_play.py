"""Games of an agent against itself, and the positions that are learned from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import after, past_chance, random_game
from zermelo.agents.base.tasks import PureWork
from zermelo.agents.evaluators.network import plane_words
from zermelo.agents.evaluators.registry import features_for, load_evaluation
from zermelo.agents.kernels.program import Program, fits, network_of
from zermelo.agents.kernels.threads import run_first_done
from zermelo.agents.monte_carlo.agent import MCTSAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent, SelectiveBy
from zermelo.agents.tree_search.alpha_beta.compiled import DEEPEST, EXPLORE, CompiledAlphaBeta
from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent
from zermelo.agents.tree_search.compiled.record import TwoPlayerRecord
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.game import Chance
from zermelo.envs.registration.make import make
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.rules_game import RulesGame

MAX_MOVES: Final = 2_000
_OPENING_SHARE, _LONGEST_OPENING = 0.4, 16  # share of a random game, and moves, after which none is random
_NODES_OF_PLAYOUTS: Final = 20  # nodes that a simulation of the first generation is counted as
_POSITIONS: Final = 200  # positions recorded of a game, at most
_TABLE_MB: Final = 4
_GAMES, _STATES = 40, 400  # random games that show what positions look like, and their states, at most
_LEAST_SHARE: Final = 1e-3
_NEWTON_STEPS, _FLAT = 20, 1e-9


def random_states(game: Any) -> list[Any]:
    """The states of some random games, always the same ones."""
    generator, states = np.random.default_rng(1), list[Any]()
    for _ in range(_GAMES):
        state = game.initial_state()
        while not game.is_terminal(state) and len(states) < _STATES:
            states.append(state)
            actions = game.legal_actions(state)
            state = game.result(state, actions[int(generator.integers(len(actions)))])
    return states


class Choice(NamedTuple):
    """An action, and the utility that its player expects; None if that is unknown."""

    action: int
    value: float | None


Player: TypeAlias = Callable[[Any], Choice]


def searching(game: Any, agent: SearchAgent, *, is_learned: bool) -> Player:
    """A player that searches; its value counts only if its evaluation was learned."""

    def choose(state: Any) -> Choice:
        result = agent.search_state(game, state)
        return Choice(result.action, result.value if is_learned else None)

    return choose


def at_random(game: Any, generator: np.random.Generator, state: Any) -> Choice:
    """A random move."""
    actions = game.legal_actions(state)
    return Choice(actions[int(generator.integers(len(actions)))], None)


@dataclass(frozen=True)
class SelfPlayGames:
    """Games of a player against itself; opening moves may be random.

    Only positions that no random move follows are recorded: there the end of the game is the value between equals,
    also after moves that nobody would choose, and searches ask about such positions most.
    """

    game: Any
    starts: Sequence[Any]
    players: Sequence[Player]  # the player, and perhaps a partner, who has one seat of every other game
    opening: int  # moves after which none is random, at most
    positions: int  # positions recorded of a game, at most: neighbours say the same
    generator: np.random.Generator
    records: Callable[[Any, Choice], bool] = lambda state, choice: True  # whether to record a position

    def play(self) -> tuple[list[tuple[Any, Choice]], Sequence[float]]:
        """Positions of one game, and its utilities; no positions if it was over before any, or too long."""
        game, generator = self.game, self.generator
        state = self.starts[int(generator.integers(len(self.starts)))]
        until, partner_seat = int(generator.integers(self.opening + 1)), int(generator.integers(4))
        recorded: list[tuple[Any, Choice]] = []
        for move in range(MAX_MOVES):
            state = past_chance(game, state, generator)
            if game.is_terminal(state):
                chosen = np.sort(generator.permutation(len(recorded))[: self.positions])
                return [recorded[place] for place in chosen], game.utility(state)
            if move < until and generator.random() < EXPLORE:
                choice = at_random(game, generator, state)
            else:
                choice = self.players[-1 if game.to_move(state) == partner_seat else 0](state)
                if move >= until and self.records(state, choice):
                    recorded.append((state, choice))
            state = after(game, state, choice.action, generator)
        return [], ()


@dataclass(frozen=True)
class Lessons:
    """Positions in which a player is to move, in the order of their games."""

    planes: npt.NDArray[np.uint64]  # what ``plane_words`` says of them; shape (positions, 2 seats, words)
    movers: npt.NDArray[np.int8]  # the seat to move; shape (positions,)
    outcomes: npt.NDArray[np.float32]  # the share of the utility that the player to move got, from 0 to 1
    values: npt.NDArray[np.float32]  # the share that the search expected; NaN where it says nothing

    def __len__(self) -> int:
        return len(self.movers)

    def __getitem__(self, chosen: slice) -> Lessons:
        return Lessons(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))

    @staticmethod
    def joined(parts: Sequence[Lessons]) -> Lessons:
        names = [field.name for field in dataclasses.fields(Lessons)]
        return Lessons(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def calibrated(lessons: Lessons) -> Lessons:
    """The lessons with each value as the chance of winning: its odds to the power that fits the outcomes best.

    A written evaluation need not be a chance, and a search by a network is surer of itself than its network.
    """
    has_value = ~np.isnan(lessons.values)
    outcomes = lessons.outcomes[has_value].astype(float)
    shares = np.clip(lessons.values[has_value].astype(float), _LEAST_SHARE, 1 - _LEAST_SHARE)
    odds = np.log(shares / (1 - shares))
    power = 1.0
    for _ in range(_NEWTON_STEPS):  # of the log loss
        chances = 1 / (1 + np.exp(-power * odds))
        curvature = (chances * (1 - chances) * odds**2).mean() if len(odds) else 0.0
        if curvature < _FLAT:
            return lessons
        power = min(max(power - ((chances - outcomes) * odds).mean() / curvature, power / 2), 2 * power)
    values = lessons.values.copy()
    values[has_value] = 1 / (1 + np.exp(-power * odds))
    return dataclasses.replace(lessons, values=values)


class CompiledGames(CompiledAlphaBeta):
    """Alpha-beta that plays whole games in compiled code."""

    program = Program(
        "self_play", "training.networks.self_play_kernel", "play_game", TwoPlayerRecord, ("int64",) * 7
    )

    @classmethod
    def of(cls, agent: AlphaBetaAgent, game: RulesGame, start: Any) -> CompiledGames | None:
        budget = Budget(agent.limits)
        evaluator = agent.evaluator_for(game, start)
        root = SearchSetup(game, start, evaluator, fitted=network_of(evaluator, game))
        return cls(root, budget, agent.config_for(root)) if fits(game) and cls.can_search(root) else None

    def begin(self, seed: int, start: Any) -> None:
        """Forgets all games, and begins others."""
        window = self.root_node(start).window
        self.clear_memory()
        self.set_root(SearchSetup(self.game, None), self.budget)
        self.set_iteration_depth(DEEPEST)
        self.ensure_memory(DEEPEST, self.searches[0].width)
        search = self.searches[0]
        search.random = seed
        (search.root_alpha, search.root_alpha_distance), (search.root_beta, search.root_beta_distance) = window

    def play(self, state: Any, opening: int, nodes: int) -> Lessons:
        game: Any = self.game
        lower, upper = game.traits.utility_bounds
        count = plane_words(game, [state]).shape[2]
        planes = np.empty((MAX_MOVES, 2, count), np.uint64)
        recorded = np.empty((MAX_MOVES + 1, 2), np.int64)
        sizes = planes.ctypes.data, count, game.symmetries, recorded.ctypes.data, MAX_MOVES, opening, nodes
        positions = 0

        def call(search: TwoPlayerRecord) -> None:
            nonlocal positions
            positions = max(self._kernel(*search.start(state), *sizes, search), 0)

        run_first_done(call, self.searches, self.budget.check_clock)
        movers = recorded[1 : positions + 1, 0].astype(np.int8)
        values = (recorded.view(np.float64)[1 : positions + 1, 1] - lower) / (upper - lower)
        outcomes = (recorded.view(np.float64)[0, movers] - lower) / (upper - lower)
        values = np.where(movers == 0, values, 1 - values)
        return Lessons(planes[:positions], movers, outcomes.astype(np.float32), values.astype(np.float32))


@dataclass
class LessonWork(PureWork):
    """Games of self-play as tasks of a runner; an item is the seed of some games."""

    env: str  # the environment's name
    network: str  # the file of the network that plays, or empty: then the written evaluation does, else playouts
    nodes: int  # nodes of the search for each move
    games: int  # games of a task

    def __post_init__(self) -> None:
        self._game: Any = None
        self._compiled: CompiledGames | None = None

    def run(self, item: int, on_turn: Callable[[int], None] | None = None) -> Lessons:
        generator = np.random.default_rng(item)
        if self._game is None:
            live = make(self.env)
            live.reset(seed=0)
            self._game = as_game(live)
            self._start = self._game.snapshot(live)
            agent = self._agent(0)
            if isinstance(agent, AlphaBetaAgent):
                self._compiled = CompiledGames.of(agent, self._game, self._start)
            drawn = np.random.default_rng(0)
            lengths = [sum(1 for _ in random_game(self._game, self._start, drawn, 1_000)) for _ in range(20)]
            self._opening = min(round(_OPENING_SHARE * np.mean(lengths)), _LONGEST_OPENING)
        game = self._game
        if self._compiled is not None:
            self._compiled.begin(int(generator.integers(2**62)), self._start)
            played = [self._compiled.play(self._start, self._opening, self.nodes) for _ in range(self.games)]
            return Lessons.joined(played)
        player = searching(game, self._agent(item), is_learned=True)
        loop = SelfPlayGames(
            game, [self._start], [player], self._opening, _POSITIONS, generator,
            records=lambda state, choice: is_quiet(game, state, choice),
        )  # fmt: skip
        mirror_image = method_or_default(game.rules, "mirror_image")
        states, movers, outcomes, values = list[Any](), list[int](), list[float](), list[float]()
        lower, upper = game.traits.utility_bounds
        for _ in range(self.games):
            recorded, final = loop.play()
            for state, choice in recorded:
                mover = game.to_move(state)
                turn = int(generator.integers(game.symmetries))
                seen = game.rules.symmetric_state(state, turn) if turn else state
                states.append(mirror_image(seen) if generator.integers(2) else seen)
                movers.append(mover)
                outcomes.append((final[mover] - lower) / (upper - lower))
                values.append(np.nan if choice.value is None else (choice.value - lower) / (upper - lower))
        words = plane_words(game, [*states, self._start])[:-1]  # of no states it would not know how many words
        return Lessons(
            words, np.array(movers, np.int8), np.array(outcomes, np.float32), np.array(values, np.float32)
        )

    def _agent(self, seed: int) -> SearchAgent:
        game = self._game
        network = load_evaluation(self.network) if self.network else None
        if network is None and features_for(game, self._start) is None:
            return MCTSAgent(simulations=max(2, self.nodes // _NODES_OF_PLAYOUTS), seed=seed)
        if game.traits.chance is not Chance.NONE:
            return ExpectiminimaxAgent(nodes=self.nodes, evaluator=network, seed=seed)
        return AlphaBetaAgent(
            nodes=self.nodes, evaluator=network, selective=SelectiveBy.GAME, memory_mb=_TABLE_MB, seed=seed
        )

    def lost(self, item: int, loss: Any) -> Lessons:
        """No positions: other games will do."""
        return dataclasses.replace(self, network="", games=1).run(item)[:0]


def is_quiet(game: Any, state: Any, choice: Choice) -> bool:
    """False if a capture or a check decides what a position is worth: searches look further there anyway."""
    is_noisy, is_urgent = (method_or_default(game.rules, name) for name in ("is_noisy", "is_urgent"))
    return not (is_noisy(state, choice.action) or is_urgent(state))
