"""Wrong calls of public names: a sentence that names the argument, and errors from inside as they are."""

from __future__ import annotations

import enum
import inspect
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import pytest

import zermelo.agents.training
import zermelo.envs
import zermelo.evaluation
from zermelo.envs import InvalidSettingError
from zermelo.envs.support.calls import explained


class Colour(enum.StrEnum):
    """An enumeration."""

    RED = "red"
    GREEN = "green"


class More(TypedDict, total=False):
    """Further settings."""

    seconds: float


def _paint(
    wall: Any,
    coats: int = 1,
    *,
    colour: Colour | str = Colour.RED,
    wet: bool = False,
    where: str | os.PathLike[str] | None = None,
    done: Callable[[], None] | None = None,
    marks: Sequence[int | str] = (),
    width: float = 1.0,
    **more: Unpack[More],
) -> Any:
    """Returns its arguments, or fails as code does that was given a wrong one."""
    os.fspath(where or "")
    len(marks)
    if done is not None:
        done()
    return wall, coats + 0, colour, wet, width * 1.0, more


paint = explained(_paint, "paint")


@dataclass(frozen=True, kw_only=True)
class _Brush:
    size: int
    hair: str = "soft"

    def dip(self, pot: Any) -> Any:
        return pot


Brush: Any = _Brush
Brush.__init__ = explained(_Brush.__init__)
Brush.dip = explained(_Brush.dip)


def test_a_right_call_passes_and_text_becomes_a_member():
    assert paint("wall", 2, colour="green", wet=True, seconds=2) == (
        "wall",
        2,
        Colour.GREEN,
        True,
        1,
        {"seconds": 2},
    )
    assert paint("wall", colour=Colour.RED)[2] is Colour.RED
    assert Brush(size=3).dip("pot") == "pot"
    assert list(inspect.signature(paint).parameters)[:3] == ["wall", "coats", "colour"]
    assert paint.__doc__ == _paint.__doc__


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paint(), "paint needs 'wall': write paint(wall)"),
        (lambda: paint(coats=2), "paint needs 'wall': write paint(wall)"),
        (
            lambda: paint("wall", 1, "red"),
            "paint does not take 'red' without a name: give it by its name, as in seconds=...",
        ),
        (lambda: paint("wall", wall="x"), "paint is given 'wall' twice: leave out wall='x'"),
        (lambda: paint("wall", color="red"), "paint has no setting 'color': did you mean 'colour'?"),
        (lambda: paint("wall", time_limit=1), "paint has no setting 'time_limit': did you mean 'seconds'?"),
        (
            lambda: paint("wall", colour="gren"),
            "colour must be one of 'red', 'green', not 'gren': did you mean 'green'?",
        ),
        (lambda: paint("wall", colour=3), "colour must be one of 'red', 'green', not 3"),
        (lambda: paint("wall", wet="no"), "wet must be True or False, not 'no'"),
        (lambda: paint("wall", "2"), "coats must be a whole number, not '2'"),
        (lambda: paint("wall", coats=None), "coats must be a whole number, not None"),
        (lambda: paint("wall", where=3), "where must be text or a path or None, not 3"),
        (lambda: paint("wall", done=3), "done must be a function or None, not 3"),
        (lambda: paint("wall", marks=3), "marks must be a list, not 3"),
        (lambda: paint("wall", width=[]), "width must be a number, not []"),
        (lambda: Brush(3), "_Brush does not take 3 without a name: give it by its name, as in size=..."),
        (lambda: Brush(), "_Brush needs 'size': write _Brush(size)"),
        (lambda: Brush(size=3).dip("pot", size=4), "_Brush.dip has no setting 'size': write _Brush(size=...)"),
        (lambda: Brush(size=3).dip(), "_Brush.dip needs 'pot': write _Brush.dip(pot)"),
    ],
)
def test_a_wrong_call_is_a_sentence(call, said):
    with pytest.raises(InvalidSettingError) as caught:
        call()
    assert str(caught.value) == said


def test_an_error_from_inside_is_left_alone():
    def fails() -> None:
        raise KeyError("of the user's own")

    with pytest.raises(KeyError, match="own"):
        paint("wall", done=fails)


@pytest.mark.parametrize("face", [zermelo.envs, zermelo.agents, zermelo.evaluation, zermelo.agents.training])
def test_functions_of_a_face_are_pickled_by_its_name(face):
    functions = [getattr(face, name) for name in face.__all__ if inspect.isfunction(getattr(face, name))]
    assert all(pickle.loads(pickle.dumps(one)) is one for one in functions)
    explained = [one for one in functions if one is not zermelo.envs.clone_env]  # which takes microseconds
    assert all(one.__module__ == face.__name__ for one in explained)
