"""A game in sequence form: what each player knows and does, as arrays.

A sequence of a player is what it has done to come to some point: an action at one of its information states, after
another sequence. The game pays by the sequences of all players together; chance is averaged over. Koller, Megiddo
and von Stengel, "Efficient computation of equilibria for extensive two-person games", Games and Economic Behavior
14 (1996).

Shapes: ``I`` information states, ``S`` sequences, the empty one (number 0) included, ``T`` ends with different
sequences. A player's information states are ordered by how many of its own decisions come before, and sequences by
information state, so that the sequences 1 to S - 1 are the actions of information state 0, then those of 1, ...
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.requirements import no_legal_action
from zermelo.envs.capabilities import SupportsInformationStates, offers
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import CHANCE, Chance, Game, Traits

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

MOST_STATES = 2_000_000  # maximum number of states that are written out
_WAYS = 8  # random ways through a game that tell its size
_LONGEST = 100_000


class DecisionLevel(NamedTuple):
    """Information states before which a player has made equally many decisions."""

    sequences: slice  # the slice of their sequences
    starts: Whole  # where in that slice each information state's sequences begin
    owners: Whole  # for each sequence in it, which of the level's information states it belongs to
    parents: Whole  # for each information state, the sequence after which it comes


@dataclass(frozen=True, kw_only=True, eq=False)
class SeatForm:
    """One player's decisions."""

    keys: list[Hashable] = field(repr=False)  # the information states. I
    examples: list[Any] = field(repr=False)  # a state of the game in each. I
    actions: Whole = field(repr=False)  # the action of each sequence but the empty one. S - 1
    starts: Whole = field(repr=False)  # which of these each information state's begin with. I
    owners: Whole = field(repr=False)  # which information state each belongs to. S - 1
    levels: list[DecisionLevel] = field(repr=False)  # by the number of own decisions before

    @property
    def size(self) -> int:
        """The number of sequences, S."""
        return len(self.actions) + 1

    def decisions(self) -> Iterator[tuple[Hashable, Any, slice]]:
        """Each information state, a state of the game in it, and which of ``actions`` are its own."""
        ends = np.append(self.starts[1:], len(self.actions)).tolist()
        for key, example, start, end in zip(self.keys, self.examples, self.starts.tolist(), ends, strict=True):
            yield key, example, slice(start, end)

    def uniform(self) -> Floats:
        """The behaviour that plays every action alike. S - 1."""
        return 1.0 / np.bincount(self.owners, minlength=len(self.keys))[self.owners]

    def normalized(self, weights: Floats) -> Floats:
        """The behaviour that plays actions in proportion to weights, uniform where all are zero. S - 1."""
        if not len(self.keys):
            return weights
        sums = np.add.reduceat(weights, self.starts)[self.owners]
        behaviour = self.uniform()
        np.divide(weights, sums, out=behaviour, where=sums > 0)
        return behaviour

    def plan(self, behaviour: Floats) -> Floats:
        """The probability that the player plays its part of each sequence. S."""
        plan = np.empty(self.size)
        plan[0] = 1.0
        for level in self.levels:
            lower, upper = level.sequences.start, level.sequences.stop
            np.multiply(behaviour[lower - 1 : upper - 1], plan[level.parents][level.owners], out=plan[lower:upper])
        return plan


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceForm:
    """A game in sequence form, with each player's decisions."""

    game: Game[Any] = field(repr=False)
    seats: Sequence[SeatForm]
    ends: Whole = field(repr=False)  # for each player, its sequence at each end. (players, T)
    payoffs: Floats = field(repr=False)  # of each end times its probability by chance. (players, T)
    states: int  # the number of states, chance events and ends included

    def sequence_values(self, seat: int, plans: Sequence[Floats]) -> Floats:
        """A player's expected payoff at the ends after each of its sequences and no later one of its own. S."""
        worth = self.payoffs[seat]
        for other, plan in enumerate(plans):
            if other != seat:
                worth = worth * plan[self.ends[other]]
        summed = np.bincount(self.ends[seat], weights=worth, minlength=self.seats[seat].size)
        return np.asarray(summed, np.float64)

    def expected(self, plans: Sequence[Floats]) -> tuple[float, ...]:
        likely = np.ones(self.ends.shape[1])
        for seat, plan in enumerate(plans):
            likely = likely * plan[self.ends[seat]]
        return tuple(float(value) for value in self.payoffs @ likely)


def sequence_form(
    game: Game[Any], *, most_states: int = MOST_STATES, check: Callable[[], Any] = lambda: None
) -> SequenceForm:
    """Writes a game with information states and exact chance, or none, out from its initial state."""
    knows = offers(game, SupportsInformationStates)
    if not knows:
        raise UnsupportedGameError(
            f"{game.traits.name} does not say what its players know: give its class information_state_key and "
            "resample (the guide 'Cards of your own')"
        )
    require_listed_chance(game.traits)
    require_few_states(game, most_states)
    return _written(game, most_states, check)


def require_listed_chance(traits: Traits) -> None:
    """Refuses sampled chance."""
    if traits.chance is Chance.SAMPLED:
        raise UnsupportedGameError(
            f"an equilibrium needs the probabilities of chance, but {traits.name} can only be simulated: "
            "write it as rules with chance_outcomes, or use 'ismcts'"
        )


def require_few_states(game: Game[Any], most_states: int) -> None:
    """Refuses games that are far too large to be written out, at once.

    On a random path the product of the numbers of choices is on average the number of ends (Knuth, "Estimating the
    efficiency of backtrack programs", Mathematics of Computation 29, 1975), so it is a thousand times that on all
    of eight paths only once in 10^24 games.
    """
    generator = random.Random(0)
    if all(_is_wide(game, 1_000 * most_states, generator) for _ in range(_WAYS)):
        raise _too_many_states(game, most_states)


def _is_wide(game: Game[Any], most: int, generator: random.Random) -> bool:
    """True if the product of the numbers of choices on a random path exceeds ``most``."""
    state, product = game.initial_state(), 1
    for _ in range(_LONGEST):
        if game.is_terminal(state):
            return False
        is_chance = game.to_move(state) == CHANCE
        moves = [move for move, _ in game.chance_outcomes(state)] if is_chance else game.legal_actions(state)
        product *= len(moves)
        if product > most:
            return True
        if not moves:
            return False  # writing it out says what is wrong
        state = game.result(state, generator.choice(moves))
    return False


def _too_many_states(game: Game[Any], most_states: int) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"{game.traits.name} has more than {most_states:,} states: raise most_states, sample it "
        "(variant=external_sampling), or use 'ismcts'"
    )


class _Seat:
    """One player's decisions while the game is being written out; sequences are numbered as they are met."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.examples: list[Any] = []
        self.parents: list[int] = []
        self.first: list[int] = []
        self.actions: list[tuple[int, ...]] = []
        self.sequence_depths = [0]

    def decision(self, key: Hashable, state: Any, parent: int, actions: tuple[int, ...], name: str) -> int:
        """The number of the first sequence at an information state, that of a state, after another sequence."""
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.parents)
            self.examples.append(state)
            self.parents.append(parent)
            self.actions.append(actions)
            self.first.append(len(self.sequence_depths))
            self.sequence_depths.extend([self.sequence_depths[parent] + 1] * len(actions))
        elif self.parents[number] != parent or self.actions[number] != actions:
            what = "what it has done" if self.actions[number] == actions else "which actions it has"
            raise UnsupportedGameError(
                f"the information state {key!r} of {name} does not say {what}: information_state_key must tell "
                "everything that the player has seen and done"
            )
        return self.first[number]

    def form(self) -> tuple[SeatForm, Whole]:
        """The decisions in order of depth, and the new number of each sequence."""
        depths = np.array(self.sequence_depths)[self.parents]
        order = np.argsort(depths, kind="stable")
        keys, count = list(self.numbers), len(order)
        widths = np.array([len(self.actions[number]) for number in order], np.int64)
        starts = np.append(0, np.cumsum(widths))
        owners = np.repeat(np.arange(count), widths)
        renumbered = np.zeros(len(self.sequence_depths), np.int64)
        renumbered[np.array(self.first, np.int64)[order][owners] + np.arange(len(owners)) - starts[owners]] = (
            np.arange(len(owners)) + 1
        )
        parents = renumbered[np.array(self.parents, np.int64)[order]]
        edges = np.searchsorted(depths[order], range(int(depths.max(initial=-1)) + 2)).tolist()
        levels = []
        for lower, upper in itertools.pairwise(edges):
            begin, end = starts[[lower, upper]].tolist()
            own = slice(begin, end)
            firsts = starts[lower:upper] - begin
            levels.append(
                DecisionLevel(slice(begin + 1, end + 1), firsts, owners[own] - lower, parents[lower:upper])
            )
        form = SeatForm(
            keys=[keys[number] for number in order],
            examples=[self.examples[number] for number in order],
            actions=np.array([action for number in order for action in self.actions[number]], np.int64),
            starts=starts[:-1],
            owners=owners,
            levels=levels,
        )
        return form, renumbered


def _written(game: Any, most_states: int, check: Callable[[], Any]) -> SequenceForm:
    traits, states = game.traits, 0
    seats = [_Seat() for _ in range(traits.seats)]
    ends: dict[tuple[int, ...], list[float]] = {}
    waiting = [(game.initial_state(), 1.0, (0,) * traits.seats)]
    while waiting:
        state, probability, sequences = waiting.pop()
        states += 1
        if not states & 1023:
            check()
        if states > most_states:
            raise _too_many_states(game, most_states)
        if game.is_terminal(state):
            paid = ends.setdefault(sequences, [0.0] * traits.seats)
            for seat, utility in enumerate(game.utility(state)):
                paid[seat] += probability * utility
            continue
        mover = game.to_move(state)
        if mover == CHANCE:
            for outcome, chance in game.chance_outcomes(state):
                waiting.append((game.result(state, outcome), probability * chance, sequences))
            continue
        actions = tuple(game.legal_actions(state))
        if not actions:
            raise no_legal_action(game)
        key = game.information_state_key(state, mover)
        first = seats[mover].decision(key, state, sequences[mover], actions, traits.seat_names[mover])
        before, after = sequences[:mover], sequences[mover + 1 :]
        for number, action in enumerate(actions, first):
            waiting.append((game.result(state, action), probability, (*before, number, *after)))
    forms, numbers = zip(*(seat.form() for seat in seats), strict=True)
    met = np.array(list(ends), np.int64).reshape(len(ends), len(forms)).T
    return SequenceForm(
        game=game,
        seats=forms,
        ends=np.stack([number[end] for number, end in zip(numbers, met, strict=True)]),
        payoffs=np.ascontiguousarray(np.array(list(ends.values()), np.float64).T),
        states=states,
    )
