"""Random play on copies of an environment before the first search of it, and what that shows.

``GAMES`` games of legal actions are played from resets with fixed seeds, and some from the position at hand.
What is seen is certain: an action that leads from one state to two is chance; two games that do not pay alike have
no constant sum; two positions that look the same and go on differently hide something. What play did not show is
assumed by those who ask, and watched by their searches (``zermelo.envs.adapters.watching``).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.kinds import full_name
from zermelo.envs.clone.volatile import VolatileParts
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import CHANCE, Chance, Information, RewardSum
from zermelo.envs.live.sides import named_sides
from zermelo.envs.live.wrappers import layers
from zermelo.envs.support.waiting import Deadline, DeadlinePassed
from zermelo.envs.traits.findings import Findings, Seen
from zermelo.envs.traits.hidden_order import Path, hidden_lists, order_of
from zermelo.envs.traits.observability import (
    Observability,
    Playable,
    differences,
    paid_between,
    played_on,
    random_action,
)

GAMES: Final = 12
MAX_STEPS: Final = 400
_ROUNDS: Final = 4  # so often games are played from each reset, where they are short
_FOR_STARTS, _FOR_LISTS = 0.2, 0.3
"""The shares of the time left that resets, and then comparing them, may take; and that lists may take."""
_PROBES: Final = 600  # so many moves may be played to see whether positions that look the same go on so
_ALL: Final = 1500
"""Moves that play takes in all, roughly; where there is no time for so many all its parts are shortened."""
_FEWEST: Final = 0.1
_AGAIN: Final = 25
"""So many of the first steps are played again, later ones every ``_AGAIN_EVERY``, and those that end a game."""
_AGAIN_EVERY: Final = 5
_ROOT_GAMES: Final = 3
_ROOT_PART: Final = 4  # of the steps allowed, one in so many may be played in addition from the position at hand
_DEAR: Final = 2.0
_SLOW_KEY: Final = 5e-4
"""A key that takes so many times as long as a move, and this many seconds at least, costs more than it brings."""
_FOR_SIDES: Final = 20  # moves of a game after which it is known whether it names who is to move
_IDLE_SEEDS: Final = 4  # with so many the same must come of a step that draws, if that makes no difference
_PLAYED_ON, _ON_STEPS = 6, 30
"""So many pairs of states that look the same, but differ, are played on, for so long, to see whether it shows."""
_LOOKS: Final = 4  # how often a key that took long is timed again, before searches do without keys
_SUM_TOLERANCE: Final = 1e-9
_SEED_KEPT: Final = "_np_random_seed"  # where Gymnasium's environments keep the seed of their last reset
_UNSEEDED: Final = "does not do the same again with the same seed, so its chance is only sampled"
_NEVER_PAID: Final = (
    "has rewards that last() never pays, as nothing accumulates them: they count all the same; call "
    "self._accumulate_rewards() at the end of step"
)
_REDRAWN: Final = (
    ": searches draw it again before every move, which takes time; anything else that it may hide they see.\n"
    "If players do know it, say so: zermelo_traits = {'information': 'perfect', 'chance': 'deterministic'} in its "
    "class"
)
_UNKNOWN_DEAL: Final = (
    ", and nothing says how to draw it again: write information_state_key and resample into its class (the guide "
    "'Cards of your own')"
)


def play(game: Playable, root: Any, needed: set[str], patience: Deadline) -> Findings:
    """Plays at random from resets (and from ``root``, where reset does not work) and returns what was seen.

    The game learns on the way which attributes are part of no key and what actions must be. ``needed`` are the
    fields of ``Traits`` that nobody has told.
    """
    games = _RandomPlay(game, root, needed, patience)
    try:
        games.play()
        notes = [_NEVER_PAID] if games.unpaid and not games.pays and not game.pays_by_rewards else []
        if notes or (games.disagrees and games.agreements == {True}):  # as whole games pay the same, not steps
            game.pays_by_rewards = True
            games = _RandomPlay(game, root, needed, patience)
            games.notes += notes
            games.play()
    except DeadlinePassed:
        return games.findings(patience.seconds)
    return games.findings(None if games.tried_all_lists else patience.seconds)


def cancels(paid: Sequence[float]) -> bool:
    """Whether a payment to all players is zero in all."""
    return abs(math.fsum(paid)) <= _SUM_TOLERANCE * max(1.0, *map(abs, paid))


def is_equal_sum(one: float, other: float) -> bool:
    """Whether two sums of payments are equal, as far as floating point can tell."""
    return abs(one - other) <= _SUM_TOLERANCE * max(1.0, abs(one), abs(other))


def payment_text(paid: Sequence[float]) -> str:
    """A payment to all players as messages show it."""
    return f"({', '.join(f'{value:g}' for value in paid)})" if len(paid) > 1 else f"{paid[0]:g}"


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


class _RandomPlay:
    def __init__(self, game: Playable, root: Any, needed: set[str], patience: Deadline) -> None:
        self.game, self.root, self.needed, self.patience = game, root, needed, patience
        self.seats, self.generator = game.traits.seats, np.random.default_rng(0)
        self.observability = Observability(game, _PROBES, patience)
        self.seen: dict[str, Seen] = {}
        self.sums: list[float] = []
        self.ends = self.steps = 0
        self.pays = False
        self.not_cancelled: tuple[float, ...] = ()
        self.most = MAX_STEPS
        self.volatile = VolatileParts()
        self.hidden: dict[Path, bool] = {}
        self.tried_all_lists = True
        self.notes: list[str] = []
        self.unpaid = self.disagrees = self.slow_keys = False
        self.last_rewards: tuple[float, ...] | None = None
        self.agreements: set[bool] = set()
        self.draws_idly, self.played_on = False, 0
        self.said: list[list[Mapping[str, Any]]] = []

    def play(self) -> None:
        starts = self._starts()
        with contextlib.suppress(ZermeloError):
            self._play_game(starts[0], compares=False)
        for state in starts[:2]:  # before anything is compared
            with contextlib.suppress(ZermeloError):
                self._leave_out_noise(state)
        if {"information", "chance"} <= self.needed:
            self.tried_all_lists = False
            with contextlib.suppress(ZermeloError), self.patience.part(_FOR_LISTS):
                self.hidden.update(hidden_lists(self.game, starts, self.patience))
                self.tried_all_lists = True
            if not self.tried_all_lists:  # of lists that stay as long, only what all others do says something
                self.hidden = {path: True for path, gets_shorter in self.hidden.items() if gets_shorter}
        for path in [path for path, gets_shorter in self.hidden.items() if gets_shorter]:
            # From now on only what else is hidden counts.
            self.game.leave_out(order_of(self.game.environment(self.root), path))
        with self.patience.part(_FOR_STARTS):
            self.observability.compare_starts(starts)
        for state in itertools.chain.from_iterable([starts] * _ROUNDS):
            with contextlib.suppress(ZermeloError):  # a broken line of play ends this game
                self._play_game(state)
            if self.steps >= self.most or (self.ends >= len(starts) and self.steps > self.most // 2):
                break
        if self.root not in starts:
            self.most += self.most // _ROOT_PART
            for _ in range(_ROOT_GAMES):
                with contextlib.suppress(ZermeloError):
                    self._play_game(self.root)

    def _starts(self) -> list[Any]:
        starts, begun = [], self.patience.spent
        for seed in range(GAMES):
            try:
                starts.append(self.game.initial_state(seed))
            except ZermeloError:
                starts.append(self.root)
                break
            if not seed:
                self._leave_out_seeds(starts[0])
            self.patience.check()
            if seed and self.patience.spent - begun > _FOR_STARTS * max(self.patience.left, 0.0):
                break
        share = self._take_time(starts[0])
        return starts[: max(2, int(GAMES * share))]

    def _leave_out_seeds(self, state: Any) -> None:
        """Starts that differ in nothing but the seed that is kept with them are equal."""
        place = json.dumps([[[], full_name(int)]])
        kept = [layer for layer in layers(self.game.environment(state)) if hasattr(layer, _SEED_KEPT)]
        self.game.leave_out({full_name(type(layer)): {_SEED_KEPT: place} for layer in kept})

    def _take_time(self, state: Any) -> float:
        """How long a move and a key take: whether keys are worth their time, and which share can be played."""
        game = self.game
        if game.is_terminal(state) or game.to_move(state) == CHANCE:
            return 1.0
        action = game.legal_actions(state)[0]
        try:
            keyed = _seconds(lambda: game.position(state))
            moved = _seconds(lambda: game.play(state, action))
            for _ in range(_LOOKS):  # the first call prepares, and other programs want the processor too
                if keyed > max(_SLOW_KEY, _DEAR * moved):
                    keyed = min(keyed, _seconds(lambda: game.position(state)))
        except ZermeloError:
            return 1.0
        self.slow_keys = keyed > max(_SLOW_KEY, _DEAR * moved)
        played = self.patience.left / (moved + (0.0 if self.slow_keys else keyed))
        share = min(1.0, max(_FEWEST, played / _ALL))
        self.observability.left = int(share * _PROBES)
        return share

    def _play_game(self, state: Any, *, compares: bool = True) -> None:
        """Plays a game; of one from a reset, what it paid in all is kept."""
        game = self.game
        self.last_rewards, begun = (0.0,) * self.seats, state
        said = [game.sides_said(state)]
        self.said.append(said)
        while not game.is_terminal(state):
            if self.steps >= self.most:
                return
            self.patience.check(self.steps / self.most)
            action = random_action(game, state, self.generator)
            after = self._step(state, action)
            is_looked_at = self.steps < _AGAIN or self.steps % _AGAIN_EVERY == 0 or game.is_terminal(after)
            if compares and is_looked_at:
                self._play_again(state, action, after)
            self._add_payment(state, after)
            self.steps += 1
            state = after
            if len(said) < _FOR_SIDES:
                said.append(game.sides_said(state))
        self.ends += 1
        in_all = paid_between(game, begun, state)
        if self.last_rewards is not None:
            self.agreements.add(_are_equal(self.last_rewards, in_all))
        if (
            begun is not self.root or "terminal_rewards_only" not in self.seen
        ):  # else some may have been paid before
            self.sums.append(math.fsum(in_all))
            first, last = self.sums[0], self.sums[-1]
            if self.seats > 1 and not is_equal_sum(first, last):
                self._see("reward_sum", RewardSum.GENERAL, f"games paid {first:g} and {last:g} in all")

    def _see(self, field: str, value: str, text: str) -> None:
        self.seen.setdefault(field, Seen(str(value), text))

    def _see_chance(self, text: str) -> None:
        self._see("chance", Chance.SAMPLED, text)

    def _step(self, state: Any, action: int) -> Any:
        """The state after an action, or an outcome of declared chance."""
        game = self.game
        if game.to_move(state) == CHANCE or "chance" in self.seen:
            return game.probe(state, action, 2 * self.steps)
        known = len(game.draws_from())
        after = game.play(state, action)
        drew = game.drew(state, after)
        if not drew and len(game.draws_from()) == known:
            return after
        if all(self._is_same(after, game.probe(state, action, seed)) for seed in range(_IDLE_SEEDS)):
            self.draws_idly = self.draws_idly or drew
            return after
        self._see_chance(f"a random number that step {self.steps + 1} drew made a difference")
        return game.probe(state, action, 2 * self.steps)

    def _is_same(self, one: Any, other: Any) -> bool:
        """Whether two states look the same, at once and where the same moves are played on from both."""
        game = self.game
        if differences(game, one, other):
            return False
        if self.played_on >= _PLAYED_ON or game.position(one) == game.position(other):
            return True
        self.played_on += 1
        generator = np.random.default_rng(self.played_on)
        pairs = played_on(game, one, other, generator, _ON_STEPS, self.patience)
        return not any(differences(game, *pair) for pair in pairs)

    def _play_again(self, state: Any, action: int, after: Any) -> None:
        game, seed = self.game, 2 * self.steps
        if not self.slow_keys:
            self._compare_equal(after, self._step(state, action))
        may_draw = "chance" not in self.seen and (self.draws_idly or game.draws_from())
        if may_draw and not self._is_same(after, game.probe(state, action, seed + 1)):
            self._see_chance(f"a random number that step {self.steps + 1} drew made a difference")
        if "chance" in self.seen and game.to_move(state) != CHANCE:
            self.observability.compare(after, game.probe(state, action, seed + 1))
        if game.to_move(state) != CHANCE:
            other = random_action(game, state, self.generator)
            self.observability.compare(after, game.probe(state, other, seed))

    def _add_payment(self, state: Any, after: Any) -> None:
        game = self.game
        gained, rewards = paid_between(game, state, after), game.rewards_now(after)
        agents, agents_after = (getattr(game.environment(one), "agents", None) for one in (state, after))
        if agents != agents_after:
            rewards = None  # those of agents that were dead have been cleared
        if any(gained):
            self.pays = True
            if not game.is_terminal(after):
                self._see("terminal_rewards_only", "False", f"step {self.steps + 1} paid {payment_text(gained)}")
            if self.seats > 1 and not cancels(gained):
                self.not_cancelled = gained
        if rewards is None:
            self.last_rewards = None
            return
        if self.last_rewards is not None:
            self.last_rewards = tuple(a + b for a, b in zip(self.last_rewards, rewards, strict=True))
        if not _are_equal(rewards, gained):
            self.unpaid = self.unpaid or any(rewards)
            self.disagrees = True

    def _leave_out_noise(self, state: Any) -> None:
        game = self.game
        if not game.is_terminal(state):
            action = random_action(game, state, np.random.default_rng(0))
            self._compare_equal(game.probe(state, action, 0), game.probe(state, action, 0))

    def _compare_equal(self, after: Any, again: Any) -> None:
        """Compares two states that an equal seed led to: what differs in what is seen says nothing from now on."""
        game = self.game
        parts = differences(game, after, again)
        in_play = {part for part in parts if not part.startswith("seen")}
        if in_play:
            if _UNSEEDED not in self.notes:
                self.notes.append(_UNSEEDED)
            self._see_chance(f"one action led from one state to two ({', '.join(sorted(in_play))})")
        game.noisy |= parts - in_play
        if self.volatile or game.position(after) != game.position(again):
            self.volatile.compare(game.environment(after), game.environment(again))
            game.leave_out(self.volatile.left_out())

    def findings(self, patience: float | None) -> Findings:
        game = self.game
        if self.not_cancelled and not self.sums:
            text = f"a step paid {payment_text(self.not_cancelled)}, and no game ended"
            self._see("reward_sum", RewardSum.GENERAL, text)
        if self.hidden or self.observability.is_hidden:
            self._see("information", Information.HIDDEN, "two positions that look the same went on differently")
        is_redrawn = self._tell_hidden()
        if self.disagrees and not game.pays_by_rewards:
            self.notes.append("pays by last() other than its rewards say: what last() pays counts")
        return Findings(
            seen={name: one for name, one in self.seen.items() if name in self.needed},
            needed=tuple(sorted(self.needed)),
            games=self.ends,
            steps=self.steps,
            pairs=self.observability.pairs,
            starts_alike=self.observability.starts_alike,
            constant=self.sums[0] if self.sums and "reward_sum" not in self.seen else None,
            pays=self.pays,
            cancels=not self.not_cancelled,
            hidden_lists=tuple(self.hidden) if is_redrawn else (),
            tried_all_lists=self.tried_all_lists,
            draws_from=tuple(sorted(game.draws_from())),
            draws_idly=self.draws_idly,
            ignored_paths=game.ignored_paths,
            noisy=tuple(sorted(game.noisy)),
            as_numpy=game.as_numpy,
            pays_by_rewards=game.pays_by_rewards,
            slow_keys=self.slow_keys,
            patience=patience,
            notes=tuple(self.notes),
            sides=named_sides(self.said),
        )

    def _tell_hidden(self) -> bool:
        """Whether lists whose order nobody sees can be drawn again, as nothing else is hidden."""
        if not self.hidden:
            return False
        is_redrawn = all(self.hidden.values()) and not self.observability.is_hidden
        names = ", ".join(sorted(".".join(map(str, path)) for path in self.hidden))
        self.notes.append(
            f"hides the order of {names} from its players{_REDRAWN if is_redrawn else _UNKNOWN_DEAL}"
        )
        return is_redrawn


def _are_equal(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(map(is_equal_sum, one, other))
