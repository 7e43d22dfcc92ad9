"""How objects of classes save and restore themselves, by library or the names of methods, and are made anew."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import full_name, refusal
from zermelo.envs.clone.traversal import reachable
from zermelo.envs.errors import CloneError

_PAIRS: Final = (
    ("clone_state", "restore_state"), ("cloneState", "restoreState"), ("get_state", "set_state"),
    ("save_state", "load_state"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """How the objects of a class save and restore themselves.

    Attributes:
        save: A state from which an object goes on in just the same way, random generators included.
        restore: Puts another object into such a state.
        arguments: What the class is called with to make a second object; without it the environment is made anew.
        options: Keywords that the environment is made anew with, where it was made with others.
        second: Makes a second object of what was made so; it may save a little more.
        seed: Starts the random generators of an object from a number, and changes nothing else.
        split: The part of a state that is the position, and the part that is the state of random generators.
        shows: Methods whose answers are no part of a state, such as those that return the screen.
        shown_by: Methods that make these answers right again.
    """

    save: Callable[[Any], Any]
    restore: Callable[[Any, Any], Any]
    arguments: Callable[[Any], tuple[Any, ...]] | None = None
    options: tuple[tuple[str, Any], ...] = (("render_mode", None),)
    second: Callable[[Any], Any] | None = None
    seed: Callable[[Any, int], Any] | None = None
    split: Callable[[Any], tuple[Any, Any]] | None = None
    shows: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()


def find_saving(cls: type) -> Saving | None:
    """How a class saves its objects, as is known or as the names of its methods say; None if it does not.

    Names are asked only of classes whose objects cannot be copied otherwise, and play shows whether they hold.
    """
    known = _KNOWN.get(full_name(cls))
    if known is not None or refusal(cls) is not None:
        return known
    for save, restore in _PAIRS:
        if callable(getattr(cls, save, None)) and callable(getattr(cls, restore, None)):
            options = {"include_rng": True} if _takes(getattr(cls, save), "include_rng") else {}
            return Saving(save=operator.methodcaller(save, **options), restore=functools.partial(_call, restore))
    return None


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # of C code
        return False


def _call(name: str, obj: Any, state: Any) -> None:
    getattr(obj, name)(state)


# --- how a second one is made


class Recipe(NamedTuple):
    """How a second object is made: the key of what is alike in this process, and readable in another one.

    Attributes:
        cls: The class of the object.
        function: Called with the pickled ``arguments`` it makes the object, or an environment that holds it.
        number: The object's number among those of its class in the environment.
    """

    cls: type
    saving: Saving
    function: Callable[..., Any]
    arguments: bytes
    number: int | None


def recipe_of(obj: Any, saving: Saving, root: Any) -> Recipe:
    """How a second object like one of those that ``root`` holds is made; ``CloneError`` where nothing says it."""
    cls = type(obj)
    if saving.arguments is not None:
        return Recipe(cls, saving, cls, pickle.dumps((saving.arguments(obj), {})), None)
    for layer in reversed([*_layers(root)]):
        made = _made_by(layer, dict(saving.options))
        alike = [] if made is None else [part for part in reachable(layer) if type(part) is cls]
        index = next((number for number, part in enumerate(alike) if part is obj), None)
        if made is not None and index is not None:
            return Recipe(cls, saving, made[0], pickle.dumps(made[1:]), index)
    raise CloneError("nothing says how its environment was made, as gymnasium.utils.EzPickle does")


def _layers(env: Any) -> Iterator[Any]:
    while env is not None:
        yield env
        env = getattr(env, "__dict__", {}).get("env")


def _made_by(layer: Any, others: dict[str, Any]) -> tuple[Callable[..., Any], tuple[Any, ...], Any] | None:
    """A function and arguments that make such an environment, if that is known, some keywords being ``others``."""
    own, cls = getattr(layer, "__dict__", {}), original_class(type(layer))
    if "_ezpickle_args" in own:
        given = own["_ezpickle_kwargs"]
        return cls, own["_ezpickle_args"], given | {name: others[name] for name in others if name in given}
    spec = own.get("spec")
    if spec is not None and "gymnasium" in sys.modules:
        options = {name: others[name] for name in others if name in spec.kwargs}
        return sys.modules["gymnasium"].make, (spec,), options
    with contextlib.suppress(TypeError, ValueError):  # of classes of C code
        if not inspect.signature(cls).parameters:
            return cls, (), {}
    return None


# --- the Arcade Learning Environment

_STICKY: Final = "repeat_action_probability"
_NO_ACTION: Final = (0, 1.0)


class _Atari:
    """A second emulator, which repeats actions by itself: ALE's state does not say which one it would repeat.

    Attributes:
        ale: The emulator, which repeats nothing.
        sticky: The probability that a frame repeats the action of the last one.
        last: That action and its strength; of a copy of the user's emulator nobody knows it, and it is none.
        numbers: The state of the random generator, Knuth's MMIX.
        loaded: The cartridge that was loaded last, and its first state, which the seed does not change.
    """

    def __init__(self, ale: Any) -> None:
        self.ale, self.sticky, self.last, self.numbers = ale, 0.0, _NO_ACTION, 0
        self.loaded: tuple[Any, Any] = (None, None)

    def act(self, action: Any, strength: float = 1.0) -> Any:
        if self.sticky:
            self.numbers = (6364136223846793005 * self.numbers + 1442695040888963407) % 2**64
            if self.numbers < self.sticky * 2**64:
                action, strength = self.last
        self.last = getattr(action, "value", action), strength  # ALE takes numbers too
        return self.ale.act(*self.last)

    def reset_game(self) -> None:
        self.last = _NO_ACTION
        self.ale.reset_game()

    def loadROM(self, path: Any) -> None:  # noqa: N802  # ALE's name
        """Loads a cartridge; a second time it takes a hundredth of the time."""
        self.last = _NO_ACTION
        if self.loaded[0] == path:
            _restore_game(self.ale, self.loaded[1])
        else:
            self.ale.loadROM(path)
            self.loaded = path, _save_game(self.ale)

    def setInt(self, key: str, value: int) -> None:  # noqa: N802  # ALE's name
        self.ale.setInt(key, value)
        if key == "random_seed":
            _seed_atari(self, int(value))

    def getFloat(self, key: str) -> float:  # noqa: N802  # ALE's name
        return self.sticky if key == _STICKY else self.ale.getFloat(key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ale, name)


def _save_game(ale: Any, *, seeded: bool = False) -> bytes:
    return ale.cloneState(include_rng=seeded).__getstate__()  # type: ignore[no-any-return]  # no types


def _restore_game(ale: Any, game: bytes) -> None:
    cls = sys.modules["ale_py"].ALEState
    state = cls.__new__(cls)
    state.__setstate__(game)
    ale.restoreState(state)


def _save_atari(ale: Any) -> Any:
    if type(ale) is _Atari:
        return _save_game(ale.ale), ale.sticky, ale.last, ale.numbers
    return _save_game(ale), ale.getFloat(_STICKY), _NO_ACTION, zlib.crc32(_save_game(ale, seeded=True))


def _restore_atari(ale: Any, state: Any) -> None:
    game, ale.sticky, ale.last, ale.numbers = state
    _restore_game(ale.ale, game)


def _seed_atari(ale: Any, number: int) -> None:
    ale.numbers = 0x9E3779B97F4A7C15 * number % 2**64  # so that numbers near to each other begin far apart


_KNOWN: Final = {
    "ale_py._ale_py.ALEInterface": Saving(
        save=_save_atari,
        restore=_restore_atari,
        options=(("render_mode", None), (_STICKY, 0.0)),
        second=_Atari,
        seed=_seed_atari,
        split=lambda state: (state[:-1], state[-1]),
        shows=("getScreen", "getScreenRGB", "getScreenGrayscale", "getAudio"),
        shown_by=("act", "reset_game"),
    )
}
"""By the full names of classes."""
NO_DRAWS: Final = "repeat_action_probability=0"


def draws_unseen(cls: type) -> bool:
    """Returns whether copies of objects of a class draw other random numbers than these, as Atari emulators do."""
    return full_name(cls) in _KNOWN
