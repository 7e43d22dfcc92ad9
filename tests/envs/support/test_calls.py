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
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call


class Colour(enum.StrEnum):
    """An enumeration."""

    RED = "red"
    GREEN = "green"


class More(TypedDict, total=False):
    """Further settings."""

    seconds: float


@checked_call
def paint(
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


@checked_call
@dataclass(frozen=True, kw_only=True)
class Brush:
    size: int
    hair: str = "soft"

    @checked_call
    def dip(self, pot: Any) -> Any:
        return pot


@checked_call
@dataclass(frozen=True)
class Roller:
    """A brush that rolls; see ``Brush``."""

    width: int

    @classmethod
    def of_brush(cls, brush: Brush) -> Roller:
        return cls(3 * brush.size)


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
    assert paint.__doc__ == "Returns its arguments, or fails as code does that was given a wrong one."
    assert Roller.of_brush(Brush(size=3)).width == 9


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
        (lambda: Brush(3), "Brush does not take 3 without a name: give it by its name, as in size=..."),
        (lambda: Brush(), "Brush needs 'size': write Brush(size=...)"),
        (lambda: Roller(), "Roller needs 'width': Roller.of_brush makes one (a brush that rolls; see Brush)"),
        (lambda: Roller.of_brush(), "Roller.of_brush needs 'brush': write Roller.of_brush(brush)"),
        (lambda: Roller.of_brush(3, size=2), "Roller.of_brush has no setting 'size': write brush=Brush(size=...)"),
        (lambda: Brush(size=3).dip("pot", size=4), "Brush.dip has no setting 'size': write Brush(size=...)"),
        (lambda: Brush(size=3).dip(), "Brush.dip needs 'pot': write Brush.dip(pot)"),
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
def test_functions_of_a_face_are_explained_and_pickled_by_their_module(face):
    functions = [getattr(face, name) for name in face.__all__ if inspect.isfunction(getattr(face, name))]
    assert all(pickle.loads(pickle.dumps(one)) is one for one in functions)
    others = [one for one in functions if one is not zermelo.envs.clone_env]  # which takes microseconds
    assert all(hasattr(one, "__wrapped__") and one.__module__ != face.__name__ for one in others)


@pytest.mark.parametrize(
    ("face", "results"), [(zermelo.agents, ["SearchResult"]), (zermelo.agents.training, ["Tuned"])]
)
def test_classes_of_a_face_are_explained_but_for_those_of_results(face, results):
    classes = [kind for name in face.__all__ if inspect.isclass(kind := getattr(face, name))]
    made = [kind for kind in classes if not getattr(kind, "_is_protocol", False)]
    assert [kind.__name__ for kind in made if not hasattr(kind.__init__, "__wrapped__")] == results
