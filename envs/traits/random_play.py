"""Inference from random play: sums of rewards, chance, and whether players see the state.

``GAMES`` games of legal actions are played on copies, from resets with fixed seeds, and some from the position at
hand. Steps are played again with the same seed: what differs is a clock, a counter or an identifier, no part of a
key, unless rewards, ends, turns or legal actions show it. Then with another seed: that is chance if it shows, at
once or a few moves later.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zermelo.envs.clone.volatile import Volatile
from zermelo.envs.errors import CloneError, ZermeloError
from zermelo.envs.game import CHANCE, Chance, Information, RewardSum
from zermelo.envs.live.configuration import configuration, differences
from zermelo.envs.support.waiting import OutOfPatience, Patience
from zermelo.envs.traits.findings import Findings
from zermelo.envs.traits.hidden_order import hidden_lists
from zermelo.envs.traits.observability import Observability, random_action, shown

if TYPE_CHECKING:
    from zermelo.envs.adapters.copies import CopiedGame

GAMES: Final = 12
MAX_STEPS: Final = 400
_ROUNDS: Final = 4  # so often games are played from each reset, where they are short
_ENOUGH: Final = 2.0
"""Seconds after which ``_ENOUGH_GAMES`` games and ``_ENOUGH_PAIRS`` steps that were played again are enough."""
_ENOUGH_GAMES: Final = 2
_ENOUGH_PAIRS: Final = 10
_FOR_STARTS: Final = 0.2  # the share of the time that resets may take
_PROBES: Final = 600  # so many moves may be played to see whether positions that look the same go on so
_ALL: Final = 1500
"""Moves that play takes in all, roughly; where there is no time for so many all its parts are shortened."""
_FEWEST: Final = 0.1
_PAIRED: Final = 25
"""So many of the first steps are played again, later ones every ``_PAIRED_EVERY``, and those that end a game."""
_PAIRED_EVERY: Final = 5
_EVERY_STEP, _CONSTANTS_EVERY = 12, 6
"""Up to which step the configuration is compared after each one, and after how many later."""
_ROOT_GAMES: Final = 3
_ROOT_PART: Final = 4  # of the steps allowed, one in so many may be played in addition from the position at hand
_LATENT: Final = 6
_LATENT_STEPS: Final = 30
"""So many pairs of states that look the same, but differ, are played on, for so long, to see whether it shows."""
_LAST_THROWS: Final = 4  # so many more seeds are tried at a step that ends a game
_DEAR: Final = 2.0
_SLOW_KEY: Final = 5e-4
"""A key that takes so many times as long as a move, and this many seconds at least, costs more than it brings."""
_LOOKS: Final = 4  # how often a key that took long is timed again, before searches do without keys
_SUM_TOLERANCE: Final = 1e-9
_NEVER_PAID: Final = (
    "has rewards that last() never pays, as nothing accumulates them: they count all the same; call "
    "self._accumulate_rewards() at the end of step"
)


def infer(game: CopiedGame, root: Any, seats: int, needed: set[str], patience: Patience) -> Findings:
    """Plays at random from resets (and from ``root``, where reset does not work) and returns what was seen.

    The game learns on the way which attributes are part of no key and what actions must be. ``needed`` are the
    fields of ``Traits`` that nobody has given or declared.
    """
    play = _Play(game, root, seats, needed, patience)
    is_done = True
    try:
        play.run()
        if play.pays_nothing or play.agrees_in_the_end:
            game.pays_by_rewards = True
            notes = [_NEVER_PAID] if play.pays_nothing else []
            play = _Play(game, root, seats, needed, patience)
            play.notes += notes
            play.run()
    except OutOfPatience:
        is_done = False
    return play.findings(is_done=is_done, seconds=patience.spent)


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


class _Play:
    def __init__(self, game: Any, root: Any, seats: int, needed: set[str], patience: Patience) -> None:
        self.game, self.root, self.seats, self.needed, self.patience = game, root, seats, needed, patience
        self.observability = Observability(game, seats, _PROBES, patience)
        self.sums: list[float] = []
        self.paid: list[tuple[float, ...]] = []
        self.early_rewards = self.differs = self.unseeded = False
        self.pairs = self.latent = self.steps = 0
        self.most, self.share = MAX_STEPS, 1.0
        self.noisy: set[str] = set()
        self.volatile = Volatile()
        self.hidden: list[Any] = []
        self.notes: list[str] = []
        self.unpaid = self.disagrees = False
        self.last_rewards: tuple[float, ...] | None = None
        self.agreements: list[bool] = []
        self.dear_keys = False
        env = game.environment(root)
        self.constants = configuration(env)
        own = configuration(env, with_classes=False)
        self._of_classes = {path: value for path, value in self.constants.items() if path not in own}

    @property
    def agrees_in_the_end(self) -> bool:
        """Whether ``rewards`` and ``last()`` paid the same over whole games, though not step by step."""
        return self.disagrees and bool(self.agreements) and all(self.agreements)

    @property
    def pays_nothing(self) -> bool:
        return self.unpaid and not any(map(any, self.paid)) and not self.game.pays_by_rewards

    def run(self) -> None:
        generator = np.random.default_rng(0)
        starts, begun = [], self.patience.spent
        for seed in range(GAMES):
            try:
                starts.append(self.game.initial_state(seed))
            except ZermeloError:
                starts.append(self.root)
                break
            self.patience.check()
            if seed and self.patience.spent - begun > _FOR_STARTS * max(self.patience.left, 0.0):
                break
        self._take_time(starts[0])
        starts = starts[: max(2, int(GAMES * self.share))]
        for state in starts[:2]:  # before anything is compared
            with contextlib.suppress(ZermeloError):
                self._leave_out_noise(state)
        if {"information", "chance"} <= self.needed:
            with contextlib.suppress(ZermeloError):
                self.hidden = hidden_lists(self.game, starts, self.patience)
        for found in self.hidden:  # from now on only what else is hidden counts
            self.game.leave_out(found.order(self.game.environment(self.root)))
        self.observability.compare_starts(starts)
        for state in itertools.chain.from_iterable([starts] * _ROUNDS):
            try:
                self.sums += self._play(state, generator)
            except ZermeloError:
                continue  # a broken line of play ends this game
            if self._has_enough() or (len(self.sums) >= len(starts) and self.steps > self.most // 2):
                break
        if self.root in starts:
            return
        self.most += self.most // _ROOT_PART
        with contextlib.suppress(ZermeloError):
            for _ in range(_ROOT_GAMES):
                from_root = self._play(self.root, generator, paired=True)
                if not self.early_rewards:  # else some may have been paid before
                    self.sums += from_root
                if self._has_enough():
                    break

    def _has_enough(self) -> bool:
        is_late = self.patience.spent > _ENOUGH
        return is_late and len(self.sums) >= _ENOUGH_GAMES and self.pairs >= _ENOUGH_PAIRS

    def _take_time(self, state: Any) -> None:
        """How long a move and a key take: whether keys are worth their time, and how much can be played."""
        game = self.game
        if game.is_terminal(state) or game.to_move(state) == CHANCE:
            return
        action = game.legal_actions(state)[0]
        try:
            keyed = _seconds(lambda: game.position(state))
            moved = _seconds(lambda: game.play(state, action))
            probed = _seconds(lambda: game.probe(state, action, 0))
            for _ in range(_LOOKS):  # the first call prepares, and other programs want the processor too
                if keyed > max(_SLOW_KEY, _DEAR * moved):
                    keyed = min(keyed, _seconds(lambda: game.position(state)))
        except ZermeloError:
            return
        self.dear_keys = keyed > max(_SLOW_KEY, _DEAR * moved)
        played = self.patience.left / (probed + (0.0 if self.dear_keys else keyed))
        self.share = min(1.0, max(_FEWEST, played / _ALL))
        self.most = max(int(self.share * MAX_STEPS), 1)
        self.observability.limit(int(self.share * _PROBES))

    def _play(self, state: Any, generator: np.random.Generator, *, paired: bool = False) -> list[float]:
        """Plays a game; returns the sum of what it paid, nothing if it was not played to its end."""
        game = self.game
        self._keep_constants(state)
        self.last_rewards, begun = (0.0,) * self.seats, game.utility(state)
        while not game.is_terminal(state):
            if self.steps >= self.most or self._has_enough():
                return []
            self.patience.check(self.steps / self.most)
            action = random_action(game, state, generator)
            after = game.probe(state, action, 2 * self.steps)
            if paired or self.steps < _PAIRED or self.steps % _PAIRED_EVERY == 0 or game.is_terminal(after):
                self._play_again(state, action, after, generator)
            self._compare_rewards(state, after)
            self.steps += 1
            state = after
            if not game.is_terminal(state) and any(game.utility(state)):
                self.early_rewards = True
            self._keep_constants(state)
        if self.last_rewards is not None:
            paid = [now - before for now, before in zip(game.utility(state), begun, strict=True)]
            self.agreements.append(_is_equal(self.last_rewards, paid))
        return [math.fsum(game.utility(state))]

    def _play_again(self, state: Any, action: int, after: Any, generator: np.random.Generator) -> None:
        game, seed = self.game, 2 * self.steps
        self.pairs += 1
        if not self.dear_keys:
            self._compare_equal(after, game.probe(state, action, seed))
        other = game.probe(state, action, seed + 1)
        self.patience.check(self.steps / self.most)
        if not self.differs:
            self.differs = self._shows(after, other) or self._shows_later(after, other)
        if game.is_terminal(after) and not self.differs:  # one throw in several may decide who wins
            throws = (game.probe(state, action, seed + 2 + throw) for throw in range(_LAST_THROWS))
            self.differs = any(self._shows(after, other) for other in throws)
        if self.differs:
            self.observability.compare(after, other)
        if game.to_move(state) != CHANCE:
            action = random_action(game, state, generator)
            self.observability.compare(after, game.probe(state, action, seed))

    def _compare_rewards(self, state: Any, after: Any) -> None:
        before, now = self.game.utility(state), self.game.utility(after)
        paid = tuple(b - a for a, b in zip(before, now, strict=True))
        rewards = self.game.rewards_now(after)
        if self._agents(state) != self._agents(after):
            rewards = None  # those of agents that were dead have been cleared
        self.paid.append(paid)
        if rewards is None:
            self.last_rewards = None
            return
        if self.last_rewards is not None:
            self.last_rewards = tuple(a + b for a, b in zip(self.last_rewards, rewards, strict=True))
        if not _is_equal(rewards, paid):
            self.unpaid = self.unpaid or any(rewards)
            self.disagrees = True

    def _agents(self, state: Any) -> Any:
        return getattr(self.game.environment(state), "agents", None)

    def _leave_out_noise(self, state: Any) -> None:
        game = self.game
        if not game.is_terminal(state):
            is_chance = game.to_move(state) == CHANCE
            action = game.chance_outcomes(state)[0][0] if is_chance else game.legal_actions(state)[0]
            self._compare_equal(game.probe(state, action, 0), game.probe(state, action, 0))

    def _compare_equal(self, after: Any, again: Any) -> None:
        """Compares two states that an equal seed led to: what differs in what is seen says nothing from now on."""
        game = self.game
        parts = self._different_parts(after, again)
        in_play = {part for part in parts if not part.startswith("seen")}
        if in_play:
            self.differs = self.unseeded = True
        self.noisy |= parts - in_play
        self.observability.noisy |= self.noisy
        if self.volatile or game.position(after) != game.position(again):
            self.volatile.compare(game.environment(after), game.environment(again))
            game.leave_out(self.volatile.left_out())

    def _different_parts(self, first: Any, second: Any) -> set[str]:
        one, other = shown(self.game, first, self.seats), shown(self.game, second, self.seats)
        return {name for name in one if one[name] != other[name]}

    def _shows(self, first: Any, second: Any) -> bool:
        return bool(self._different_parts(first, second) - self.noisy)

    def _shows_later(self, first: Any, second: Any) -> bool:
        """Whether two states that look the same, but are not, look different when the same is played in both."""
        game = self.game
        if self.latent >= _LATENT or (self.dear_keys and self.latent):
            return False
        try:
            if game.position(first) == game.position(second):
                return False
        except CloneError:
            return False
        self.latent += 1
        generator = np.random.default_rng(self.latent)
        with contextlib.suppress(ZermeloError):
            for step in range(_LATENT_STEPS):
                if game.is_terminal(first):
                    break
                action = random_action(game, first, generator)
                first, second = (game.probe(state, action, step) for state in (first, second))
                self.patience.check(self.steps / self.most)
                if self._shows(first, second):
                    return True
        return False

    def _keep_constants(self, state: Any) -> None:
        """Leaves out what has changed; looked at often in the first moves and less often later."""
        if self.steps > _EVERY_STEP and self.steps % _CONSTANTS_EVERY and not self.game.is_terminal(state):
            return
        now = self._of_classes | configuration(self.game.environment(state), with_classes=False)
        for path in differences(self.constants, now):
            del self.constants[path]

    def findings(self, *, is_done: bool, seconds: float) -> Findings:
        game, inferred, assumed = self.game, dict[str, Any](), dict[str, Any]()
        chance = Chance.SAMPLED if self.differs else Chance.NONE
        (inferred if self.differs or (is_done and self.pairs) else assumed)["chance"] = chance
        sums = _reward_sum(self.sums, self.seats) if self.sums else None
        if sums is not None and (is_done or len(self.sums) >= _ENOUGH_GAMES):
            inferred |= sums
            inferred["terminal_rewards_only"] = not self.early_rewards
        else:
            cancels = all(abs(math.fsum(paid)) <= _SUM_TOLERANCE for paid in self.paid)
            is_opposed = self.seats == 2 and cancels
            values = {"reward_sum": RewardSum.ZERO if is_opposed else RewardSum.GENERAL, "constant": 0.0}
            (assumed if cancels else inferred).update(sums or values)
            (inferred if self.early_rewards else assumed)["terminal_rewards_only"] = False
        information = Information.PERFECT
        if self.hidden or self.observability.is_hidden:
            inferred["information"] = information = Information.HIDDEN
        elif self.observability.is_whole():
            inferred["information"] = information
        else:
            assumed["information"] = information
        self._tell_hidden(inferred)
        if self.disagrees and not game.pays_by_rewards:
            self.notes.append("pays by last() other than its rewards say: what last() pays counts")
        if self.unseeded:
            self.notes.append("does not do the same again with the same seed, so its chance is only sampled")
        return Findings(
            inferred=inferred,
            assumed=assumed,
            draws_from=tuple(sorted(game.draws_from())),
            constants=self.constants,
            games=len(self.sums),
            needed=tuple(sorted(self.needed)),
            without=game.without,
            as_numpy=game.as_numpy,
            pays_by_rewards=game.pays_by_rewards,
            dear_keys=self.dear_keys,
            is_done=is_done,
            seconds=seconds,
            notes=tuple(self.notes),
        )

    def _tell_hidden(self, inferred: dict[str, Any]) -> None:
        """Lists whose order nobody sees are drawn again before every move, if they are all that is hidden."""
        if not self.hidden:
            return
        names = ", ".join(sorted(found.name for found in self.hidden))
        if self.observability.is_hidden or not all(found.is_drawn_from for found in self.hidden):
            self.notes.append(
                f"hides the order of {names} from its players, and nothing says how to draw it again: write "
                "information_state_key and resample into its class (the guide 'Cards of your own')"
            )
            return
        inferred["chance"] = Chance.SAMPLED
        inferred["drawn_again"] = tuple(found.path for found in self.hidden)
        inferred["deals_again"] = True
        self.notes.append(
            f"hides the order of {names} from its players: searches draw it again before every move; anything "
            "else that it may hide they see"
        )


def _is_equal(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) <= _SUM_TOLERANCE for a, b in zip(one, other, strict=True))


def _reward_sum(sums: list[float], seats: int) -> Mapping[str, Any]:
    if seats > 1 and all(abs(total) <= _SUM_TOLERANCE for total in sums):
        return {"reward_sum": RewardSum.ZERO, "constant": 0.0}
    constant = sums[0]
    tolerance = _SUM_TOLERANCE * max(1.0, abs(constant))
    if seats > 1 and len(sums) > 1 and all(math.isclose(s, constant, abs_tol=tolerance) for s in sums):
        return {"reward_sum": RewardSum.CONSTANT, "constant": constant}
    return {"reward_sum": RewardSum.GENERAL, "constant": 0.0}
