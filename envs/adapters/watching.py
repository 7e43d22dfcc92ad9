"""Watching what is assumed of an environment, in the steps that searches make anyway.

Play before the first search does not show that something never happens. So the states of copies carry a
``Watch`` from the root of a search on. It looks at every payment, and at the copies' random generators: next to
the root, where a game ends, and now and then. What contradicts an assumption is kept as seen, and
``AssumptionFailed`` ends the search: agents begin again with what fits.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from zermelo.envs.capabilities import SupportsCopies, offers
from zermelo.envs.clone.generators import OutsideGenerators, generator_states
from zermelo.envs.errors import AssumptionFailed, UnknownTraitWarning, ZermeloError
from zermelo.envs.game import Chance, RewardSum, Traits
from zermelo.envs.traits.findings import see
from zermelo.envs.traits.origin import Origin
from zermelo.envs.traits.play import cancels, is_equal_sum, payment_text

_FIRST: Final = 64  # steps until the generators of the process are looked at, and then so many times two
_EVERY: Final = 32  # steps from one look at the copies' own generators to the next
_CHANGED: Final = (
    "shows something else after a search of it: if that is no clock, its copies share state in this "
    "configuration, and the search has changed it; keep all state in attributes of the environment"
)


class WatchedState(Protocol):
    """A state of a game on copies, as far as it is looked at."""

    @property
    def env(self) -> Any: ...
    @property
    def totals(self) -> tuple[float, ...]: ...
    @property
    def over(self) -> bool: ...


class Watch:
    """The assumptions of one search: a root and all states that come from it."""

    __slots__ = (
        "_cancels",
        "_differs",
        "_ends",
        "_generators",
        "_looks_outside",
        "_name",
        "_next",
        "_origin",
        "_outside",
        "_root",
        "_saved",
        "steps",
    )

    def __init__(self, assumed: Assumed, root: WatchedState) -> None:
        self._origin, self._name, self._outside = assumed.origin, assumed.name, assumed.outside
        self._cancels, self._root = assumed.cancels, root
        self._ends = list[float]()  # what the first game that ended paid in all
        self.steps, self._next = 0, _FIRST
        is_idle = assumed.chance and assumed.draws_idly
        self._generators = generator_states(root.env) if assumed.no_draws and not is_idle else []
        self._differs = assumed.differs if is_idle else None
        self._looks_outside = assumed.looks_outside
        self._saved = list[Any]()  # the generators at the beginning of the search that runs, if one does

    def dealt(self, state: WatchedState) -> Watch:
        """The watch of a state that was dealt again, which has random generators of its own."""
        if not self._generators:
            return self
        watch = copy.copy(self)
        watch._root, watch._generators = state, generator_states(state.env)
        return watch

    def see(self, before: WatchedState, action: int, after: WatchedState) -> None:
        """Looks at a step."""
        if self._differs is not None and before is self._root and self._differs(before, action, after):
            self._fail("chance", Chance.SAMPLED, "a random number that a step drew made a difference")
        if self._cancels is not None and before.totals != after.totals:
            self._see_payment(before, after)
        if self._cancels is False and after.over:
            self._see_end(after)
        self.steps = steps = self.steps + 1
        is_looked_at = self._generators and (before is self._root or after.over or steps % _EVERY == 0)
        if is_looked_at and generator_states(after.env) != self._generators:
            self._fail("chance", Chance.SAMPLED, "a step drew a random number")
        if steps >= self._next:
            self._next = 2 * steps
            self._look_outside()

    def _see_payment(self, before: WatchedState, after: WatchedState) -> None:
        paid = tuple(now - was for was, now in zip(before.totals, after.totals, strict=True))
        if self._cancels and not cancels(paid):
            self._fail("reward_sum", RewardSum.GENERAL, f"a step paid {payment_text(paid)}")

    def _see_end(self, after: WatchedState) -> None:
        total = math.fsum(after.totals)
        if not self._ends:
            self._ends.append(total)
        elif not is_equal_sum(self._ends[0], total):
            self._fail("reward_sum", RewardSum.GENERAL, f"games paid {self._ends[0]:g} and {total:g} in all")

    def _look_outside(self) -> None:
        if self._saved and (moved := self._outside.put_back(self._saved[0])):
            self._fail("chance", Chance.SAMPLED, f"a step drew from {moved[0]}", tuple(moved))

    @contextlib.contextmanager
    def while_searching(self) -> Iterator[None]:
        """Looks at the generators of the process and of modules as well, which are put back in the end."""
        if not self._looks_outside:
            yield
            return
        before = self._outside.look()
        self._saved.append(before)
        try:
            yield
            self._look_outside()
        except BaseException:
            self._outside.put_back(before)
            raise
        finally:  # a later search that goes on with this one's tree must not see what others drew in between
            self._saved.clear()

    def _fail(self, field: str, value: str, text: str, drawn: tuple[str, ...] = ()) -> None:
        see(self._origin, field, value, text, drawn)
        raise AssumptionFailed(field, value, text, self._name, drawn)


@contextlib.contextmanager
def watching(game: Any, state: Any) -> Iterator[Any]:
    """A state as the root of a search, which is watched in the block, if the game assumes anything.

    A warning says so where the state shows something else afterwards: copies share what is seen then.
    """
    root = game.watched(state) if offers(game, SupportsCopies) else state
    watch: Watch | None = getattr(root, "watch", None)
    before = None if watch is None else _shown(game, state)
    with contextlib.nullcontext() if watch is None else watch.while_searching():
        yield root
    if watch is not None and _shown(game, state) != before:
        game.tell_once(_CHANGED, UnknownTraitWarning)


def _shown(game: Any, state: Any) -> Any:
    """The observation of the player to move, if it is the same at each look."""
    is_noisy = state.over or state.mover < 0 or f"seen by {state.mover}" in game.noisy
    with contextlib.suppress(ZermeloError):
        return None if is_noisy else game.observation_key(state, state.mover)
    return None


@dataclass
class Looked:
    """How much searches of a game have looked: steps of random lines before them, and nodes."""

    lines: int = 0
    nodes: int = 0


class Assumed:
    """The assumptions of searches of a game on copies; ``watch`` gives the watch of one.

    ``by_order`` says that nothing was seen of chance but lists whose order nobody sees: searches shuffle these,
    and steps are believed to draw nothing. ``differs`` says whether a step of a game whose steps draw idly leads
    elsewhere with other random numbers.

    Attributes:
        chance: Whether it is assumed that there is none.
        no_draws: Whether it is assumed that steps draw no random numbers that make a difference.
        looks_outside: Whether it is assumed that they draw from no more generators of the process, or of modules,
            than was seen: only these are guarded in each step.
    """

    def __init__(
        self,
        origin: Origin,
        traits: Traits,
        outside: OutsideGenerators,
        *,
        cancels: bool,
        draws_idly: bool,
        by_order: bool,
        differs: Callable[[Any, int, Any], bool],
    ) -> None:
        self.origin, self.name, self.outside = origin, traits.name, outside
        self.looked = Looked()
        self.chance, self.by_order = "chance" in traits.assumed, by_order
        self.no_draws = self.chance or by_order
        self.looks_outside = self.chance or traits.chance is not Chance.NONE
        self.draws_idly, self.differs = draws_idly, differs
        self.cancels = cancels if "reward_sum" in traits.assumed else None

    @property
    def looks_at_generators(self) -> bool:
        """Whether searches look if a step draws from the generators that copies hold."""
        return self.chance and not self.draws_idly

    def __bool__(self) -> bool:
        return self.looks_outside or self.cancels is not None

    def watch(self, root: WatchedState) -> Watch:
        """The watch of a search from a root."""
        return Watch(self, root)
