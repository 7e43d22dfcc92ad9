"""Lists whose order no player sees, such as a deck that was shuffled at ``reset``: copies know the next card.

Such a list is not the same after another seed. To permute what a move leaves of it shows nothing, neither before
that move nor after it, and shows when play goes on. A list that is shown anywhere is none of these.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import fields_of, full_name, layout_of, module_name
from zermelo.envs.clone.state_key import IN_ANY_ORDER, digest
from zermelo.envs.clone.traversal import kind_of, reachable
from zermelo.envs.errors import ZermeloError
from zermelo.envs.live.wrappers import layers
from zermelo.envs.support.waiting import Deadline
from zermelo.envs.traits.observability import Playable, differences, played_on

_LONGEST: Final = 5_000
_MAX_DEPTH: Final = 4
_MOST: Final = 40  # lists that are tried
_ACTIONS: Final = 8  # of which one may take something from a list
_SEEDS: Final = 4
_WALKS: Final = 2
_WALK_STEPS: Final = 60
_DIGESTED: Final = 2_000
_IN_PLAY: Final = frozenset(
    ["agents", "possible_agents", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"]
)
_NO_PARTS: Final = (int, float, str, bytes, type(None), np.ndarray, type)
_LIBRARIES: Final = ("gymnasium", "numpy", "pettingzoo.utils", "pygame", "torch", "builtins")

Path = tuple[Any, ...]
"""From an environment on: names of attributes, keys of dictionaries, places in lists."""


def hidden_lists(game: Playable, starts: Sequence[Any], patience: Deadline) -> Iterator[tuple[Path, bool]]:
    """The lists of a game whose order nobody sees, by what shows after resets with different seeds.

    Each as soon as it is found, with whether it gets shorter in play: what is left is unseen.
    """
    if len(starts) < 2 or game.is_terminal(starts[0]):
        return
    others = [game.environment(state) for state in starts[1:_SEEDS]]
    for path, value in itertools.islice(_lists_in(game.environment(starts[0])), _MOST):
        same = digest(list(value), _DIGESTED)
        if all(digest(list(at(other, path) or ()), _DIGESTED) == same for other in others):
            continue  # it is the same in every game
        patience.check()
        try:
            first, permuted = game.permuted(starts[0]), _permuted(game, starts[0], path)
            if permuted is None or differences(game, permuted, first):
                continue
            differs, gets_shorter = _differ(game, first, permuted, path, patience)
        except ZermeloError:
            continue
        is_deck = gets_shorter or not _are_held_elsewhere(game.environment(starts[0]), value)
        if differs and is_deck and not _is_shown(game, starts[0], path):
            yield path, gets_shorter


def _are_held_elsewhere(env: Any, items: Iterable[Any]) -> bool:
    """Whether objects of a list are held by others too, as a cell's neighbours are: it is no deck."""
    objects = {id(item) for item in items if not isinstance(item, _NO_PARTS)}
    seen: set[int] = set()
    for holder in reachable(env) if objects else ():
        for part in kind_of(type(holder)).parts(holder):
            if id(part) in objects:
                if id(part) in seen:
                    return True
                seen.add(id(part))
    return False


def order_of(env: Any, path: Path) -> dict[str, dict[str, str]]:
    """The order of a list, as ``state_key`` leaves it out; nothing where the list is no attribute of an object."""
    owner, name = at(env, path[:-1]), path[-1]
    is_attribute = not isinstance(owner, dict | list | tuple) and isinstance(name, str)
    return {full_name(original_class(type(owner))): {name: IN_ANY_ORDER}} if is_attribute else {}


def shuffle_lists(env: Any, paths: Sequence[Path], generator: np.random.Generator) -> None:
    """Shuffles lists of an environment, in place."""
    for path in paths:
        value = at(env, path)
        if value:
            _shuffle(value, generator)


def _shuffle(value: Any, generator: np.random.Generator, places: slice = slice(None)) -> None:
    part = list(value)[places]
    order = generator.permutation(len(part))
    for place, chosen in zip(range(len(value))[places], order, strict=True):
        value[place] = part[chosen]


def at(env: Any, path: Path) -> Any:
    """The value at a path from an environment on; None where there is nothing."""
    value = env
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list | tuple):
            value = value[step] if isinstance(step, int) and step < len(value) else None
        else:
            value = fields_of(value).get(step) if value is not None else None
    return value


def _lists_in(env: Any) -> Iterator[tuple[Path, Any]]:
    waiting: collections.deque[tuple[Path, Any]] = collections.deque()
    path: Path = ()
    for layer in layers(env):
        waiting.append((path, layer))
        path = (*path, "env")
    seen: set[int] = set()
    while waiting:
        path, value = waiting.popleft()
        if id(value) in seen or len(path) > _MAX_DEPTH:
            continue
        seen.add(id(value))
        kind = type(value)
        if kind in (list, collections.deque) and 2 <= len(value) <= _LONGEST:
            yield path, value
        items: Iterable[tuple[Any, Any]] = ()
        if kind in (list, tuple, dict) and len(value) <= _MOST:
            items = value.items() if kind is dict else enumerate(value)
        elif layout_of(kind).base is object and not module_name(kind).startswith(_LIBRARIES):
            items = (item for item in fields_of(value).items() if item[0] not in _IN_PLAY)
        waiting += [((*path, name), part) for name, part in items if not isinstance(part, _NO_PARTS)]


def _permuted(game: Playable, state: Any, path: Path, places: slice = slice(None)) -> Any:
    """The state with a list in another order, in some of its places; None where its elements are all alike."""
    changed = game.permuted(state)
    value = at(game.environment(changed), path)
    before = digest(list(value), _DIGESTED)
    for seed in range(3):
        _shuffle(value, np.random.default_rng(seed), places)
        if digest(list(value), _DIGESTED) != before:
            return changed
    return None


def _is_shown(game: Playable, state: Any, path: Path) -> bool:
    """Whether players see, once a move was made, in which order the rest of a list is that the move has left.

    Where nobody can be asked what is seen before a step, as in Gymnasium, this is the first that is known of it.
    """
    for action in list(game.legal_actions(state))[:_ACTIONS]:
        after = game.probe(state, action, 0)
        rest, whole = list(at(game.environment(after), path) or ()), list(at(game.environment(state), path))
        taken = len(whole) - len(rest)
        if not 0 <= taken < len(whole) - 1:
            continue
        at_the_end = digest(rest, _DIGESTED) == digest(whole[: len(rest)], _DIGESTED)
        changed = _permuted(game, state, path, slice(0, len(rest)) if at_the_end else slice(taken, None))
        if changed is not None and (taken or not game.is_terminal(after)):
            is_shown = differences(game, game.probe(changed, action, 0), after)
            if is_shown or taken:
                return bool(is_shown)
    return False


def _differ(game: Playable, first: Any, second: Any, path: Path, patience: Deadline) -> tuple[bool, bool]:
    """Whether the same moves show a difference of two states, and whether a list gets shorter on the way."""
    gets_shorter = False
    for seed in range(_WALKS):
        length, generator = 0, np.random.default_rng(seed)
        for one, other in played_on(game, first, second, generator, _WALK_STEPS, patience):
            before, length = length, len(at(game.environment(one), path) or ())
            gets_shorter = gets_shorter or length < before
            if differences(game, one, other):
                return True, gets_shorter
    return False, gets_shorter
