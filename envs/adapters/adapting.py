"""The way from a live environment to its game on copies: what is told of it, what play shows, what is assumed.

Play takes place in a forked child where there is one, so that what copies do to things that they share does not
reach the user's process. What it shows is kept, by what the environment is made of.
"""

from __future__ import annotations

import contextlib
import hashlib
import operator
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from zermelo.envs import errors
from zermelo.envs.adapters.watching import Assumed
from zermelo.envs.clone.generators import OutsideGenerators
from zermelo.envs.clone.jax_keys import plain_key
from zermelo.envs.clone.outside_state import OutsideState, is_known_to_clone
from zermelo.envs.errors import CloneError, UnknownTraitWarning, UnsupportedGameError, ZermeloError
from zermelo.envs.game import CHANCE, Chance, RewardSum, Traits, TraitSource
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.support.forked import can_fork, in_child, written
from zermelo.envs.support.waiting import Deadline, DeadlinePassed, say_once
from zermelo.envs.traits.declared import declared_traits, declares_chance
from zermelo.envs.traits.findings import NOTHING, Findings, recall, remember
from zermelo.envs.traits.known_classes import known_class
from zermelo.envs.traits.merging import AdaptedGame, merge_traits
from zermelo.envs.traits.observability import in_play, random_action
from zermelo.envs.traits.origin import origin_of
from zermelo.envs.traits.play import play

_FOR_TRIAL: Final = 0.25  # of the time, to see whether copies are right
_SINGLE_MOVES: Final = 8
_WALK_STEPS: Final = 60
_WALKS: Final = 5  # that differ by chance alone hardly ever do so in the same way
_SAID_AFTER: Final = 0.5
_STEP_SECONDS: Final = 0.5  # that a step under way may take when the time is over
_SEVERAL_SIDES: Final = (
    "{name} is one Gymnasium environment, and its {said} changes from step to step as if several sides moved in "
    "turn: a search would play them all for one. zermelo.envs.sides(env, mover={said!r}) is the game of several; "
    "if one player makes all moves, say so: zermelo_traits = {{'one_side': True}} in its class, or "
    "traits={{'one_side': True}} for the agent"
)
_NOT_COMPARED: Final = (
    "takes so long for a move that nobody saw whether its copies share something that they change; "
    "zermelo.envs.verify_clone looks as long as it takes"
)
_KEY_AS_NUMBERS: Final = (
    "keeps a random key of JAX as plain numbers, {}, which searches do not replace: they foresee what is drawn "
    "from it; jax.config.update('jax_enable_custom_prng', True) before the environment is made has typed keys"
)
_IN_PLAY: Final = ("reward_sum", "chance", "information", "terminal_rewards_only")


def adapt(
    make: Callable[..., Any],
    raw: Any,
    given: Mapping[str, Any],
    patience: float,
    *,
    seats: tuple[str, ...],
    actions: int,
    deals_again: bool,
) -> AdaptedGame:
    """A game on copies of an environment, with its traits: told, or seen in play, or assumed."""
    base = Traits(
        name=game_name(raw),
        seat_names=seats,
        chance=Chance.SAMPLED,
        num_actions=actions,
        deals_again=deals_again,
        sources={"num_actions": TraitSource.KNOWN},
    )
    declared, of_class = declared_traits(raw), dict(known_class(raw).traits_of(raw))
    if declares_chance(raw):
        of_class["chance"] = Chance.EXACT
    told = ((TraitSource.GIVEN, given), (TraitSource.DECLARED, declared), (TraitSource.KNOWN, of_class))
    needed = _needed({**of_class, **declared, **given})
    outside, is_known = OutsideGenerators(raw), is_known_to_clone(raw)
    if is_known:  # and to draw from its own generators alone
        outside = outside.only(())
    assumed = NOTHING.assumed_traits(len(seats))[0]
    draft = make(raw, merge_traits(base, *told, (TraitSource.ASSUMED, assumed)), outside=outside)
    if is_known and not needed:
        return AdaptedGame(draft)
    origin = origin_of(raw)
    findings = recall(origin)
    if findings is None or not needed <= set(findings.needed) or patience > findings.sufficient_patience:
        played = _play(draft, raw, needed, patience, is_known=is_known)
        findings = remember(origin, played) if patience > 0 else played if findings is None else findings
    elif not is_known and patience > 0 and not _compared.has(raw):
        findings = msgspec.structs.replace(findings, notes=_compare(draft, raw, patience, findings.notes))
    if patience > 0:
        _compared.add(raw)
    known = recall(origin)
    if findings.sides and not draft.traits.one_side:
        raise UnsupportedGameError(_SEVERAL_SIDES.format(name=game_name(raw), said=findings.sides))
    for note in findings.notes:
        draft.tell_once(note, UnknownTraitWarning)
    if patience > 0 and not is_known and (place := _plain_key(draft, raw)):
        draft.tell_once(_KEY_AS_NUMBERS.format(place), UnknownTraitWarning)
    seen, seen_by = findings.seen_traits()
    assumed, assumed_by = findings.assumed_traits(len(seats))
    by = {TraitSource.SEEN: seen_by, TraitSource.ASSUMED: assumed_by}
    found = (TraitSource.SEEN, seen), (TraitSource.ASSUMED, assumed)
    traits = merge_traits(base, *told, *found, evidence=by)
    draft.learn(findings)
    by_order = findings.draws_nothing and bool(traits.drawn_again) and traits.source("chance") is TraitSource.SEEN
    watched_outside = outside.only(findings.draws_from)  # searches watch the other generators
    if traits.chance is Chance.NONE or is_known:
        outside = watched_outside
    watched = Assumed(
        origin,
        traits,
        watched_outside,
        cancels=findings.cancels,
        draws_idly=findings.draws_idly,
        by_order=by_order,
        differs=draft.differs_by_chance,
    )
    game = draft.with_traits(traits, outside, watched)
    return AdaptedGame(game, findings.sufficient_patience, lambda: recall(origin) is known)


def _needed(told: Mapping[str, Any]) -> set[str]:
    """The fields that play is to show."""
    needed = {name for name in _IN_PLAY if name not in told}
    if told.get("reward_sum") == RewardSum.CONSTANT and "constant" not in told:
        needed.add("constant")
    return needed


class _Environments:
    """Live environments by their ``id``, as they may be unhashable; none without weak references."""

    def __init__(self) -> None:
        self._ids: set[int] = set()

    def has(self, env: Any) -> bool:
        return id(env) in self._ids

    def add(self, env: Any) -> None:
        if not self.has(env):
            with contextlib.suppress(TypeError):
                weakref.finalize(env, self._ids.discard, id(env))
                self._ids.add(id(env))


_compared: Final = _Environments()
"""Those whose copies were compared: one made alike may share state all the same, if an argument says so."""


def _plain_key(game: Any, raw: Any) -> str | None:
    if "jax" not in sys.modules:
        return None
    root = game.snapshot(raw)
    with contextlib.suppress(ZermeloError):
        if not game.is_terminal(root) and game.to_move(root) != CHANCE:
            after = game.probe(root, game.legal_actions(root)[0], 0)
            return plain_key(game.environment(root), game.environment(after))
    return None


# Play


def _compare(game: Any, raw: Any, patience: float, notes: tuple[str, ...]) -> tuple[str, ...]:
    """Compares the copies of an environment of which all else was seen before; returns what is to be said of it.

    Raises:
        CloneError: They are not right.
    """
    root = game.snapshot(raw)
    if not can_fork():
        with contextlib.suppress(DeadlinePassed):
            return tuple(dict.fromkeys((*notes, *_try_copies(game, root, Deadline(patience)))))
    elif not _try_twice(game, root, patience):
        return tuple(dict.fromkeys((*notes, _NOT_COMPARED)))
    return notes


def _play(game: Any, raw: Any, needed: set[str], patience: float, *, is_known: bool) -> Findings:
    if patience <= 0:
        return msgspec.structs.replace(NOTHING, needed=tuple(sorted(needed)))
    text = f"finding out what {game_name(raw)} is, by playing copies of it"
    root = game.snapshot(raw)
    if not can_fork():
        return _in_this_process(game, root, needed, Deadline(patience, text), is_known=is_known)

    def waits(spent: float) -> None:
        if spent > _SAID_AFTER:
            say_once(f"{text} (once; about {patience:g} s, longer beside other work)")

    def work() -> bytes:
        try:
            played = _in_this_process(game, root, needed, Deadline(patience), is_known=is_known)
        except ZermeloError as error:
            return msgspec.json.encode([type(error).__name__, str(error)])
        except Exception as error:
            return msgspec.json.encode(["", f"{type(error).__name__}: {error}"])
        return msgspec.json.encode(played)

    notes = () if is_known or _try_twice(game, root, patience) else (_NOT_COMPARED,)
    answer = in_child(work, 2.0 * patience + _STEP_SECONDS, waits)
    nothing = msgspec.structs.replace(NOTHING, needed=tuple(sorted(needed)), patience=patience, notes=notes)
    if answer is None:
        return msgspec.structs.replace(nothing, trouble=f"as a step takes longer than {patience:g} s")
    if answer.startswith(b"{"):
        played = msgspec.json.decode(answer, type=Findings)
        return msgspec.structs.replace(played, notes=(*notes, *played.notes))
    kind, message = msgspec.json.decode(answer, type=tuple[str, str])
    if kind:
        raise getattr(errors, kind, ZermeloError)(message)
    return msgspec.structs.replace(nothing, trouble=f"as play on copies raised {message}")


def _in_this_process(game: Any, root: Any, needed: set[str], patience: Deadline, *, is_known: bool) -> Findings:
    notes = list[str]()
    findings = msgspec.structs.replace(NOTHING, needed=tuple(sorted(needed)))
    try:
        if not is_known:
            notes = _try_copies(game, root, patience)
        findings = play(game, root, needed, patience)
    except DeadlinePassed:
        findings = msgspec.structs.replace(findings, trouble="as a step takes too long", patience=patience.seconds)
    finally:
        patience.end()
    if files := ", ".join(written()):
        notes.append(f"has copies that write to files ({files}), so searches do too")
    return msgspec.structs.replace(findings, notes=(*notes, *findings.notes))


def _try_copies(game: Any, root: Any, patience: Deadline) -> list[str]:
    """Plays one game on copies, and returns what is to be said of that: what it changes in modules and on classes.

    Raises:
        CloneError: A copy is not the same game, or playing one changes another one.
    """
    env, state, generator = game.environment(root), root, np.random.default_rng(0)
    name, outside, seats = game_name(env), OutsideState(env), range(game.traits.seats)

    def seen(of: Any) -> list[Any]:
        with game.outside.guard(0, is_reset=True):
            return [game.observation_key(of, seat) for seat in seats]

    notes = list[str]()
    before = seen(root)
    is_stable = before == seen(root)  # it shows no time of day
    try:
        with contextlib.suppress(ZermeloError), patience.part(_FOR_TRIAL):
            while not game.is_terminal(state):
                state = game.probe(state, random_action(game, state, generator), int(generator.integers(2**32)))
                patience.check()
        same = not is_stable or seen(state) == seen(game.playout_state(state))
        changes = outside.text()
        if is_stable and seen(root) != before:
            raise CloneError(f"playing a clone of {name} changes what another one shows{changes}")
        if not same:
            raise CloneError(f"the clone of {name} that has been played is not the same game{changes}")
    finally:
        outside.restore()
    if changes:
        notes.append(f"has copies that change it{changes}, so searches do too; keep that in an attribute of it")
    return notes


def _try_twice(game: Any, root: Any, patience: float) -> bool:
    """Makes the same moves from the same position twice, each time in a child process of its own.

    Returns:
        Whether that could be compared: False where moves take too long.

    Raises:
        CloneError: The second time always goes otherwise: what copies share has changed, though nobody sees it.
    """
    first = _walked_twice(game, root, patience)
    if first is None or first.is_alike:
        return first is not None and bool(first.once and first.twice)
    is_confirmed = False
    for _ in range(_WALKS):
        again = _walked_twice(game, root, patience)
        if again is None:
            continue
        if not _agree(again.once, first.once) or not _agree(again.twice, first.twice):
            return True  # that is chance, or a clock
        is_confirmed = is_confirmed or not again.is_alike
    if not is_confirmed:
        return False
    raise CloneError(
        f"playing a clone of {game_name(game.environment(root))} changes how another one goes on{first.changes}"
    )


class _Walks(NamedTuple):
    """Digests of what the same moves showed the first and the second time, and what they changed elsewhere."""

    once: tuple[str, ...]
    twice: tuple[str, ...]
    changes: str

    @property
    def is_alike(self) -> bool:
        return _agree(self.once, self.twice)


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two walks are equal up to the end of the shorter one, which a limit of time may have ended."""
    return all(map(operator.eq, one, other))


def _walked_twice(game: Any, root: Any, patience: float) -> _Walks | None:
    seconds = _FOR_TRIAL * patience / 2

    def work() -> bytes:
        outside = OutsideState(game.environment(root))
        once, twice = (
            [hashlib.sha256(repr(step).encode()).hexdigest() for step in _walk(game, root, seconds)] for _ in "12"
        )
        return msgspec.json.encode(_Walks(tuple(once), tuple(twice), outside.text()))

    # Beside the walks themselves: copies are made to see which actions are masked, and one step may be under way.
    answer = in_child(work, 4 * seconds + 2 * patience + 2 * _STEP_SECONDS, lambda _: None)
    return None if answer is None else msgspec.json.decode(answer, type=_Walks)


def _walk(game: Any, root: Any, seconds: float) -> list[Any]:
    """Whose turn it is, what was paid and what is legal after single moves, and on the way of some random ones."""
    start, generator, walked = game.permuted(root), np.random.default_rng(0), list[Any]()

    def moved(state: Any, action: int) -> Any:
        if walked:  # one move is made in any case
            patience.check()
        after = game.probe(state, action, len(walked))
        walked.append(list(in_play(game, after).values()))
        return after

    try:
        legal = [] if game.to_move(start) == CHANCE else game.legal_actions(start)
        patience = Deadline(seconds)  # from here on: the first time masks were tried
        for action in legal[:_SINGLE_MOVES]:
            moved(start, action)
        state = start
        while not game.is_terminal(state) and len(walked) < _WALK_STEPS:
            state = moved(state, random_action(game, state, generator))
    except DeadlinePassed:
        return walked
    except ZermeloError as error:
        walked.append(type(error).__name__)
    return walked
