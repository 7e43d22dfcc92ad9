"""Inference from random play: sums of rewards, random numbers, and whether players see the state.

A step draws if playing it twice, with different seeds, leads to different states; that is tried on all of the
first steps, then on every fifth and on those that end a game. What players see is the business of
``zermelo.envs.traits.observability``.

Only legal actions are played, on copies, so no illegal end says anything. ``GAMES`` games are played from resets
with fixed seeds: an environment shows the same on every machine. A heavy one gets fewer, by the length of its key.
Play is a generator that yields after each move, so that an agent with a time limit spreads it over its first
moves; nothing follows from it before its end. Some games are played from the position at hand, as ``reset``
without its options may lead to another configuration. What play shows is remembered for later environments of the
same class and the same configuration: all attributes that stayed the same throughout that play.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import CHANCE, Chance, Information, RewardSum
from zermelo.envs.live.configuration import configuration, differences
from zermelo.envs.live.wrappers import game_layers
from zermelo.envs.traits.observability import Observability, Probe

GAMES = 12
MAX_STEPS = 200
_MIN_STEPS = 6
_KEY_PARTS = 60_000
"""Steps times the parts of the environment's key: of an environment with 1,000 parts, 60 steps are played."""
_PROBES = 3
"""For each step allowed, so many moves may be played to see whether positions that look the same go on so."""
_PAIRED_PART = 8
"""Of the steps allowed, one in so many is paired from the first one on; later ones are every ``_PAIRED_EVERY``."""
_PAIRED_EVERY = 5
_EVERY_STEP, _CONSTANTS_EVERY = 12, 6
"""Up to which step the configuration is compared after each one, and after how many later."""
_ROOT_GAMES = 3
_ROOT_PART = 4
"""Of the steps allowed, one in so many may be played in addition from the position at hand."""
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Findings:
    """The findings of random play.

    Attributes:
        inferred: Fields of ``Traits`` that play showed.
        assumed: Fields that play could not show, with the usual value.
        draws_from: The generators that steps drew from and the environment does not hold.
        constants: Digests of the attributes that never changed, by path.
        finished: Playouts that reached an end.
    """

    inferred: Mapping[str, Any]
    assumed: Mapping[str, Any]
    draws_from: frozenset[str]
    constants: dict[str, bytes]
    finished: int


_memory: dict[tuple[type, ...], list[Findings]] = {}
_MEMORY_PER_CLASS = 32


def infer(game: Probe, root: Any, seats: int) -> Generator[None, None, Findings]:
    """Plays at random from resets (and from ``root``, where reset does not work) and returns what was seen."""
    most = min(MAX_STEPS, max(_MIN_STEPS, _KEY_PARTS // len(game.position(root))))
    play = _Play(game, root, Observability(game, seats, _PROBES * most), most)
    yield from play.run()
    inferred: dict[str, Any] = {"chance": Chance.SAMPLED if play.differs else Chance.NONE}
    assumed: dict[str, Any] = {}
    if play.sums:
        inferred |= _reward_sum(play.sums, seats)
        inferred["terminal_rewards_only"] = not play.early_rewards
    elif play.early_rewards:
        inferred["terminal_rewards_only"] = False
    if not play.sums:
        assumed["reward_sum"] = RewardSum.ZERO if seats == 2 else RewardSum.GENERAL
        assumed["constant"] = 0.0
    if play.observability.is_whole():
        inferred["information"] = Information.PERFECT
    findings = Findings(inferred, assumed, game.draws_from(), play.constants, len(play.sums))
    remembered_for_class = _memory.setdefault(_classes(game.environment(root)), [])
    if len(remembered_for_class) < _MEMORY_PER_CLASS:
        remembered_for_class.append(findings)
    return findings


def remembered(env: Any) -> Findings | None:
    """Earlier findings for an environment of the same class and configuration, if there are any."""
    known = _memory.get(_classes(env))
    if not known:
        return None
    now = configuration(env)
    return next((findings for findings in known if not differences(findings.constants, now)), None)


def _reward_sum(sums: list[float], seats: int) -> dict[str, Any]:
    if seats > 1 and all(abs(total) <= _SUM_TOLERANCE for total in sums):
        return {"reward_sum": RewardSum.ZERO, "constant": 0.0}
    constant = sums[0]
    tolerance = _SUM_TOLERANCE * max(1.0, abs(constant))
    if seats > 1 and len(sums) > 1 and all(math.isclose(s, constant, abs_tol=tolerance) for s in sums):
        return {"reward_sum": RewardSum.CONSTANT, "constant": constant}
    return {"reward_sum": RewardSum.GENERAL, "constant": 0.0}


def random_action(game: Probe, state: Any, generator: np.random.Generator) -> int:
    """A legal action, or an outcome of chance with its probability."""
    if game.to_move(state) == CHANCE:
        outcomes, probabilities = zip(*game.chance_outcomes(state), strict=True)
        return int(generator.choice(outcomes, p=probabilities))
    actions = game.legal_actions(state)
    return int(actions[int(generator.integers(len(actions)))])


@dataclass
class _Play:
    game: Probe
    root: Any
    observability: Observability
    most: int
    sums: list[float] = field(default_factory=list)
    early_rewards: bool = False
    differs: bool = False
    constants: dict[str, bytes] = field(default_factory=dict)
    steps: int = 0
    _of_classes: dict[str, bytes] = field(default_factory=dict)

    def run(self) -> Generator[None]:
        """Plays; yields after each move."""
        env = self.game.environment(self.root)
        self.constants = configuration(env)
        own = configuration(env, with_classes=False)
        self._of_classes = {path: value for path, value in self.constants.items() if path not in own}
        generator = np.random.default_rng(0)
        starts = []
        for seed in range(min(GAMES, max(2, self.most // 3))):
            try:
                starts.append(self.game.initial_state(seed))
            except ZermeloError:
                starts.append(self.root)
                break
            yield
        yield from self.observability.compare_starts(starts)
        for state in starts:
            try:
                self.sums += yield from self._play(state, generator)
            except ZermeloError:
                continue  # a broken position ends this game; the search will report it if it gets there
        if self.root in starts:
            return
        self.most += self.most // _ROOT_PART
        with contextlib.suppress(ZermeloError):
            for _ in range(_ROOT_GAMES):
                from_root = yield from self._play(self.root, generator, paired=True)
                if not self.early_rewards:  # else some may have been paid before
                    self.sums += from_root

    def _play(
        self, state: Any, generator: np.random.Generator, *, paired: bool = False
    ) -> Generator[None, None, list[float]]:
        """Plays a game; returns the sum of what it paid, nothing if it was not played to its end."""
        game = self.game
        self._keep_constants(state)
        while not game.is_terminal(state):
            if self.steps >= self.most:
                return []
            action = random_action(game, state, generator)
            after = game.probe(state, action, 2 * self.steps)
            yield
            if (
                paired
                or self.steps < self.most // _PAIRED_PART
                or self.steps % _PAIRED_EVERY == 0
                or game.is_terminal(after)
            ):
                if not self.differs:
                    again = game.probe(state, action, 2 * self.steps + 1)
                    self.differs = game.comparable(after) != game.comparable(again)
                    yield
                if self.differs:
                    again = game.probe(state, action, 2 * self.steps + 1)
                    yield from self.observability.compare(after, again)
                if game.to_move(state) != CHANCE:
                    other = random_action(game, state, generator)
                    if other != action:
                        yield from self.observability.compare(after, game.probe(state, other, 2 * self.steps))
            self.steps += 1
            state = after
            if not game.is_terminal(state) and any(game.utility(state)):
                self.early_rewards = True
            self._keep_constants(state)
        return [math.fsum(game.utility(state))]

    def _keep_constants(self, state: Any) -> None:
        """Leaves out what has changed; looked at often in the first moves and less often later."""
        if self.steps > _EVERY_STEP and self.steps % _CONSTANTS_EVERY and not self.game.is_terminal(state):
            return
        now = self._of_classes | configuration(self.game.environment(state), with_classes=False)
        for path in differences(self.constants, now):
            del self.constants[path]


def _classes(env: Any) -> tuple[type, ...]:
    return tuple(original_class(type(layer)) for layer in game_layers(env))
