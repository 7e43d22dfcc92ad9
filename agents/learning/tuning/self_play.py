"""Games of an agent against itself, and the positions that are learned from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from zermelo.agents.core.playouts import after, past_chance, random_game
from zermelo.agents.evaluators.fitted.evaluator import load_evaluation
from zermelo.agents.evaluators.fitted.network import plane_words
from zermelo.agents.evaluators.written import features_for
from zermelo.agents.players.alpha_beta import AlphaBetaAgent, SelectiveBy
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.agents.players.minimax import ExpectiminimaxAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Chance, as_game, make_env

MAX_MOVES: Final = 2_000
_OPENING_SHARE, _LONGEST_OPENING = 0.4, 16
"""Random moves end after this share of the length of a random game, and after so many moves, at most."""
_NODES_OF_PLAYOUTS: Final = 20
"""A simulation of the first generation, in games without an evaluation, is counted as so many nodes."""
_POSITIONS: Final = 200
"""Positions recorded of a game, at most."""
_EXPLORE: Final = 0.5
"""Probability of a random move in the opening."""
_LEAST_SHARE: Final = 1e-3
_NEWTON_STEPS, _FLAT = 20, 1e-9


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


def at_random(game: Any, generator: np.random.Generator) -> Player:
    """A player of random moves."""

    def choose(state: Any) -> Choice:
        actions = game.legal_actions(state)
        return Choice(actions[int(generator.integers(len(actions)))], None)

    return choose


@dataclass(frozen=True)
class SelfPlay:
    """Games of a player against itself; opening moves may be random.

    Only positions that no random move follows are recorded: there the end of the game is the value between equals,
    also after moves that nobody would choose, and searches ask about such positions most.

    Attributes:
        players: The player, and perhaps a partner, who has one seat of every other game.
        opening: Moves after which none is random, at most.
        positions: Positions recorded of a game, at most: neighbours say the same.
        records: Says of a position and what was chosen whether to record it.
    """

    game: Any
    starts: Sequence[Any]
    players: Sequence[Player]
    opening: int
    positions: int
    generator: np.random.Generator
    records: Callable[[Any, Choice], bool] = lambda state, choice: True

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
            if move < until and generator.random() < _EXPLORE:
                choice = at_random(game, generator)(state)
            else:
                choice = self.players[-1 if game.to_move(state) == partner_seat else 0](state)
                if move >= until and self.records(state, choice):
                    recorded.append((state, choice))
            state = after(game, state, choice.action, generator)
        return [], ()


# -- positions that networks learn from


@dataclass(frozen=True)
class Lessons:
    """Positions in which a player is to move, in the order of their games.

    Attributes:
        planes: What ``plane_words`` says of them; shape (positions, 2 seats, words).
        movers: The seat to move; shape (positions,).
        outcomes: The share of the utility that the player to move got in the end, from 0 to 1.
        values: The share that the search expected, as its evaluation says it; NaN where it says nothing.
    """

    planes: npt.NDArray[np.uint64]
    movers: npt.NDArray[np.int8]
    outcomes: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.movers)

    def __getitem__(self, chosen: slice) -> Lessons:
        return Lessons(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))

    @staticmethod
    def joined(parts: Sequence[Lessons]) -> Lessons:
        """Several as one."""
        names = [field.name for field in dataclasses.fields(Lessons)]
        return Lessons(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def calibrated(lessons: Lessons) -> Lessons:
    """The lessons with each value as the chance of winning: its odds to the power that fits the outcomes best.

    A written evaluation need not be a chance, and a search by a network is surer of itself than its network.
    """
    known = ~np.isnan(lessons.values)
    outcomes = lessons.outcomes[known].astype(float)
    shares = np.clip(lessons.values[known].astype(float), _LEAST_SHARE, 1 - _LEAST_SHARE)
    odds = np.log(shares / (1 - shares))
    power = 1.0
    for _ in range(_NEWTON_STEPS):  # of the log loss
        chances = 1 / (1 + np.exp(-power * odds))
        curvature = (chances * (1 - chances) * odds**2).mean() if len(odds) else 0.0
        if curvature < _FLAT:
            return lessons
        power = min(max(power - ((chances - outcomes) * odds).mean() / curvature, power / 2), 2 * power)
    values = lessons.values.copy()
    values[known] = 1 / (1 + np.exp(-power * odds))
    return dataclasses.replace(lessons, values=values)


@dataclass
class LessonWork:
    """Games of self-play as tasks of a runner; an item is the seed of some games.

    Attributes:
        env: The environment's name.
        network: The file of the network that plays, or empty: then the written evaluation does, else playouts.
        nodes: Nodes of the search for each move.
        games: Games of a task.
    """

    env: str
    network: str
    nodes: int
    games: int
    hang_seconds: float | None = None

    def __post_init__(self) -> None:
        self._game: Any = None

    def run(self, item: int, on_turn: Callable[[int], None] | None = None) -> Lessons:
        """The positions of some games; ``on_turn`` is not called."""
        generator = np.random.default_rng(item)
        if self._game is None:
            live = make_env(self.env)
            live.reset(seed=item)
            self._game = as_game(live)
            self._start = self._game.snapshot(live)
            self._player = self._make_player(item)
            lengths = [sum(1 for _ in random_game(self._game, self._start, generator, 1_000)) for _ in range(5)]
            self._opening = min(round(_OPENING_SHARE * np.mean(lengths)), _LONGEST_OPENING)
        game = self._game
        loop = SelfPlay(
            game, [self._start], [self._player], self._opening, _POSITIONS, generator,
            records=lambda state, choice: is_quiet(game, state, choice),
        )  # fmt: skip
        states, movers, outcomes, values = list[Any](), list[int](), list[float](), list[float]()
        lower, upper = game.traits.utility_bounds
        for _ in range(self.games):
            recorded, final = loop.play()
            for state, choice in recorded:
                mover = game.to_move(state)
                turn = int(generator.integers(game.symmetries))
                states.append(game.rules.symmetric_state(state, turn) if turn else state)
                movers.append(mover)
                outcomes.append((final[mover] - lower) / (upper - lower))
                values.append(np.nan if choice.value is None else (choice.value - lower) / (upper - lower))
        words = plane_words(game, [*states, self._start])[:-1]  # of no states it would not know how many words
        return Lessons(
            words, np.array(movers, np.int8), np.array(outcomes, np.float32), np.array(values, np.float32)
        )

    def _make_player(self, seed: int) -> Player:
        game = self._game
        network = load_evaluation(self.network) if self.network else None
        if network is not None or features_for(game, self._start) is not None:
            if game.traits.chance is Chance.NONE:
                agent: SearchAgent = AlphaBetaAgent(
                    nodes=self.nodes, evaluator=network, selective=SelectiveBy.GAME, seed=seed
                )
            else:
                agent = ExpectiminimaxAgent(nodes=self.nodes, evaluator=network, seed=seed)
            return searching(game, agent, is_learned=True)
        simulations = max(2, self.nodes // _NODES_OF_PLAYOUTS)
        return searching(game, MCTSAgent(simulations=simulations, seed=seed), is_learned=True)

    def lost(self, item: int, loss: Any) -> Lessons:
        """No positions: other games will do."""
        return dataclasses.replace(self, network="", games=0).run(item)

    def close(self) -> None:
        """Nothing was started."""

    def __reduce__(self) -> Any:
        return LessonWork, (self.env, self.network, self.nodes, self.games)


def is_quiet(game: Any, state: Any, choice: Choice) -> bool:
    """False if a capture or a check decides what a position is worth: searches look further there anyway."""
    rules = game.rules
    if hasattr(rules, "is_noisy") and rules.is_noisy(state, choice.action):
        return False
    return not (hasattr(rules, "is_urgent") and rules.is_urgent(state))
