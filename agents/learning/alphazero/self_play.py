"""Games of a network against itself, many at once, by tree search over compiled rules; and what it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.monte_carlo.search import make_search
from zermelo.agents.compiled.observer import Observer
from zermelo.agents.core.monte_carlo import Selection, Start, TreeForm
from zermelo.agents.core.settings import check_settings, flag, number, whole
from zermelo.agents.learning.layout import BATCH, Batch, Trees
from zermelo.agents.learning.vector_games import (
    GameArrays,
    compiled_game,
    run_parts,
    split_games,
    threads_for,
)
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.envs import Chance, Information, InvalidSettingError, UnsupportedGameError
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat


@dataclass(frozen=True, kw_only=True)
class AlphaZeroSettings:
    """Settings of training by self-play, checked.

    Attributes:
        games: Games at once; the network is asked about as many positions at a time.
        actors: Tasks of a runner that play these games, each its share of them.
        simulations: Simulations for each move.
        considered: Actions that share the root's simulations, at most.
        exploration: The weight of priors inside the tree (PUCT), with values from 0 to 1.
        visit_weight, value_weight: c_visit and c_scale of Gumbel AlphaZero: the weight of values against priors.
        random_plies: The most random moves that a game begins with.
        longest: Moves after which a game ends, and counts as even.
        solver: Whether to prove wins, losses and draws.
        channels, blocks: Width and residual blocks of the network.
        dense: Whether boards too go through dense layers, four times as wide, which ``mcts`` evaluates itself.
        positions: New positions of an iteration.
        reuse: How often a position is learned from, on average.
        buffer: Positions remembered.
        batch_size: Positions of a learning step.
        learning_rate: At first; it falls to a twentieth over the training, by a cosine.
        weight_decay: Of AdamW.
        value_mix: The share of the search's value in the value to learn; the rest is how the game ended.
        symmetries: Whether positions are seen through random symmetries of the rules.
        seed: Seed of all that is drawn.
    """

    games: int = whole(256, lower=1)
    actors: int = whole(1, lower=1)
    simulations: int = whole(32, lower=2)
    considered: int = whole(16, lower=2)
    exploration: float = number(1.25, lower=0)
    visit_weight: float = number(50.0, lower=0)
    value_weight: float = number(0.2, lower=0)
    random_plies: int = whole(8)
    longest: int = whole(512, lower=1)
    solver: bool = flag(True)
    channels: int = whole(32, lower=1)
    blocks: int = whole(4, lower=1)
    dense: bool = flag(False)
    positions: int = whole(4_096, lower=1)
    reuse: float = number(8.0, lower=0)
    buffer: int = whole(200_000, lower=1)
    batch_size: int = whole(256, lower=2)
    learning_rate: float = number(2e-3, lower=0)
    weight_decay: float = number(1e-4, lower=0)
    value_mix: float = number(0.5, lower=0, upper=1)
    symmetries: bool = flag(True)
    seed: int = whole(0)

    def __post_init__(self) -> None:
        check_settings(self)


_STEP, _SEARCH, _GAMES = range(3)
"""Codes of the kernel: go on, begin the searches of all games' moves anew, begin all games anew."""
_KEPT: Final = ("states", "stacks", "random", "openings", "moves")
_PARTS: Final = ("states", "actions", "policies", "movers", "values")
_Sample: TypeAlias = tuple[list[int], list[int], list[float], int, float]
"""A move that a search has decided, of a game that goes on: these parts of the arrays."""


class Samples(NamedTuple):
    """Positions of games that are over, a row each, with what to learn: outcome, search value, from -1 to 1."""

    states: NDArray[np.int64]
    actions: NDArray[np.int32]  # the legal ones, -1 behind them
    policies: NDArray[np.float32]  # their probabilities
    outcomes: NDArray[np.float32]
    searched: NDArray[np.float32]

    @staticmethod
    def joined(parts: list[Samples]) -> Samples:
        """Several as one."""
        return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def opposed_game(env: Any) -> RulesGame:
    """The game of rules that an environment plays, if two opposed players see all of it."""
    game = compiled_game(env)
    traits = game.traits
    lower, upper = traits.utility_bounds
    wrong = ""
    if not traits.is_opposed:
        wrong = "it is not one of two opposed players"
    elif traits.information is not Information.PERFECT:
        wrong = "its players do not see the whole state"
    elif traits.simultaneous:
        wrong = "its players move at the same time"
    elif traits.chance not in (Chance.NONE, Chance.EXACT):
        wrong = "its chance can only be simulated"
    elif not (np.isfinite(upper - lower) and lower < upper):
        wrong = "its utilities have no bounds"
    if wrong:
        raise UnsupportedGameError(
            f"{traits.name} cannot be learned by self-play with tree search: {wrong}; train one seat against "
            "opponents instead (zermelo.agents.learning.OpponentEnv)"
        )
    return game


def visits_due(considered: int, simulations: int) -> NDArray[np.int64]:
    """Sequential halving: how many visits the action has whose turn it is, shape (considered + 1, simulations).

    Row ``n`` is for ``n`` actions. Each phase gives all that are left the same number of visits; then the better
    half goes on, two at least. Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML
    (2013).
    """
    table = np.zeros((considered + 1, simulations), np.int64)
    for count in range(1, considered + 1):
        phases = max((count - 1).bit_length(), 1)
        row: list[int] = []
        left, base = count, 0
        while len(row) < simulations:
            rounds = max(simulations // (phases * left), 1)
            row += [base + number for number in range(rounds) for _ in range(left)]
            base, left = base + rounds, max(left // 2, min(count, 2))
        table[count] = row[:simulations]
    return table


class SelfPlay:
    """Games of a network against itself.

    ``observations`` are the positions that the network is to judge, one of each game; ``step`` takes its answers.
    ``played`` games have ended, and ``asked`` positions have been judged.
    """

    def __init__(self, game: RulesGame, settings: AlphaZeroSettings, threads: int | None = None) -> None:
        self.game, self.settings = game, settings
        count, search = settings.games, self._search()
        nodes = (1 if game.traits.chance is Chance.NONE else 4) * (settings.simulations + 2)
        tree = nodes * (search.node_words + max(game.max_legal_actions, 1) * search.edge_words)
        names = ("simulations", "considered", "visit_weight", "value_weight", "random_plies")
        try:
            self._games = GameArrays(
                game,
                Trees,
                count,
                settings.longest,
                arena_words=tree,
                path_words=2 * nodes + 2,
                **{name: getattr(settings, name) for name in names},
            )
        except (MemoryError, ValueError):  # what NumPy raises for sizes that are no numbers of bytes
            gib = 8 * count * (tree + 2 * nodes) / 2**30
            raise InvalidSettingError(
                f"games={count} with simulations={settings.simulations} need {gib:,.0f} GiB of memory, "
                "which there is not: lower them"
            ) from None
        self.arrays = self._games.arrays
        self.arrays["visits_due"] = visits_due(settings.considered, settings.simulations)
        self.shape, self.choices = self._games.observer.shape, int(self._games.numbers["choices"])
        self.played = self.asked = 0
        from zermelo.agents.learning.alphazero.self_play_kernel import play

        self._open: list[list[_Sample]] = [[] for _ in range(count)]
        searches = [self._search() for _ in range(threads_for(count, threads, spare=1))]
        plies = settings.longest + settings.simulations + 8
        self._lanes = self._games.lanes(play, searches, plies, {})
        words = np.random.SeedSequence(settings.seed).generate_state(count, np.uint64)
        self.arrays["random"][:] = (words >> np.uint64(2)).astype(np.int64)
        self._run(_GAMES)

    @property
    def observations(self) -> NDArray[Any]:
        """The positions to judge, of shape (games, *what a player sees); the next step may change the array."""
        return self.arrays["observations"].reshape(-1, *self.shape)

    def step(self, logits: NDArray[Any], values: NDArray[Any]) -> Samples | None:
        """Takes the network's logits and values, and goes on; returns samples of ended games.

        Logits have the shape (games, actions), values (games,): from -1 to 1, for the player to move.
        """
        arrays = self.arrays
        arrays["logits"][:], arrays["answers"][:] = logits, values
        if not (np.isfinite(arrays["logits"]).all() and np.isfinite(arrays["answers"]).all()):
            raise InvalidSettingError(
                "the network answered with a number that is not finite: lower learning_rate, and begin again"
            )
        self._run(_STEP)
        self.asked += len(self._open)
        for game in np.flatnonzero(arrays["decided"]).tolist():
            self._open[game].append(tuple(arrays[f"sample_{name}"][game].tolist() for name in _PARTS))
        ended = np.flatnonzero(arrays["ended"]).tolist()
        self.played += len(ended)
        finished = [self._samples(game) for game in ended if self._open[game]]
        return Samples.joined(finished) if finished else None

    def begin_searches(self) -> None:
        """Begins the search of every game's move anew: what was found so far depends on an older network."""
        self._run(_SEARCH)

    # -- what a checkpoint has

    def state(self) -> dict[str, Any]:
        """All that decides how the games go on, where their searches begin anew."""
        kept = {name: self.arrays[name].copy() for name in _KEPT}
        return {**kept, "open": self._open, "played": self.played, "asked": self.asked}

    def restore(self, kept: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        for name in _KEPT:
            self.arrays[name][:] = kept[name]
        self._open = msgspec.convert(kept["open"], list[list[_Sample]])
        self.played, self.asked = int(kept["played"]), int(kept["asked"])
        self.begin_searches()

    # -- how it is set up

    def _search(self) -> Search:
        settings = self.settings
        agent = MCTSAgent(
            selection=Selection.PUCT, exploration=settings.exploration, solver=settings.solver, memory_mb=0
        )
        state = self.game.initial_state()
        return make_search(TreeForm(Start(self.game, state, agent.config, 0)), 0)

    # -- running

    def _run(self, begin: int) -> None:
        parts = split_games(self._lanes, 0, len(self._open))
        if run_parts(parts, self.game.initial_state(), begin):
            raise UnsupportedGameError(
                f"{self.game.traits.name} has nothing to decide: all its moves are forced, or random_plies is too "
                "large"
            )

    def _samples(self, game: int) -> Samples:
        states, actions, policies, movers, values = zip(*self._open[game], strict=True)
        outcome, seats = float(self.arrays["outcomes"][game]), np.array(movers)
        lower, upper = self.game.traits.utility_bounds
        total = 2 * (self.game.traits.constant - lower - upper) / (upper - lower)
        self._open[game] = []
        return Samples(
            np.array(states, np.int64),
            np.array(actions, np.int32),
            np.array(policies, np.float32),
            np.where(seats == 0, outcome, total - outcome).astype(np.float32),
            np.array(values, np.float32),
        )


class Lesson(NamedTuple):
    """A learning step's input: observations, probability of each action (-1: illegal), and return from -1 to 1."""

    observations: NDArray[Any]
    policies: NDArray[np.float32]
    values: NDArray[np.float32]


class Replay:
    """The latest samples, ``capacity`` of them at most; ``added`` is how many there have been."""

    def __init__(self, game: RulesGame, capacity: int, *, value_mix: float = 0.0, symmetries: bool = True) -> None:
        rules = game.rules
        start = starter(rules, 0)(game.initial_state())
        width, words = max(game.max_legal_actions, 1), len(flat(start[1]))
        self.added, self.capacity = 0, capacity
        self._game, self._start, self._mix = game, start, value_mix
        self._symmetries = game.symmetries if symmetries else 1
        self._observer = Observer(game)
        self._rows = Samples(
            np.zeros((capacity, words), np.int64),
            np.full((capacity, width), -1, np.int32),
            np.zeros((capacity, width), np.float32),
            np.zeros(capacity, np.float32),
            np.zeros(capacity, np.float32),
        )
        from zermelo.agents.learning.alphazero.self_play_kernel import present

        constants = tuple(sorted(self._observer.constants.items()))
        self._kernel = build(rules, Kernel(present, ("int64", "int64", BATCH), constants))

    def __len__(self) -> int:
        """Number of samples."""
        return min(self.added, self.capacity)

    def add(self, samples: Samples) -> None:
        """Replaces the oldest samples by new ones."""
        count = len(samples.outcomes)
        places = (self.added + np.arange(count)) % self.capacity
        for name in Samples._fields:
            getattr(self._rows, name)[places[-self.capacity :]] = getattr(samples, name)[-self.capacity :]
        self.added += count

    def draw(self, count: int, generator: np.random.Generator) -> Lesson:
        """Draws samples uniformly, each seen through a random symmetry."""
        return self.lesson(*(generator.integers(most, size=count) for most in (len(self), self._symmetries)))

    def lesson(self, places: NDArray[Any], symmetries: NDArray[Any]) -> Lesson:
        """The samples at some places of the ring, each through a symmetry."""
        rows, count = self._rows, len(places)
        choices = int(self._game.traits.num_actions or 0)
        batch, targets = Batch(), np.empty((count, choices))
        written, states = np.zeros((count, self._observer.size), self._observer.dtype), rows.states[places]
        batch.hold("states", states)
        batch.hold("actions", rows.actions[places].astype(np.int64))
        batch.hold("policies", rows.policies[places].astype(np.float64))
        batch.hold("symmetries", np.asarray(symmetries, np.int64))
        batch.hold("observations", written)
        batch.hold("targets", targets)
        batch.state_words, batch.position_words = rows.states.shape[1], self._observer.words
        batch.width, batch.observed, batch.choices = rows.actions.shape[1], self._observer.size, choices
        self._kernel(*self._start, 0, count, batch)
        values = self._mix * rows.searched[places] + (1 - self._mix) * rows.outcomes[places]
        seen = written.reshape(count, *self._observer.shape)
        return Lesson(seen, targets.astype(np.float32), values.astype(np.float32))

    def state(self) -> dict[str, Any]:
        """All samples, for a checkpoint."""
        rows = self._rows._asdict().items()
        return {"replay_added": self.added, **{f"replay_{name}": column[: len(self)] for name, column in rows}}

    def restore(self, kept: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.added = int(kept["replay_added"])
        for name, column in self._rows._asdict().items():
            column[: len(self)] = kept[f"replay_{name}"]
