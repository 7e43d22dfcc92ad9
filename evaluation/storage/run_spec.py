"""Specification of a run, as its folder has it, and the check that it is the run which was asked for.

A run is what its specification says, with the fingerprints of the environment and the agents
(``zermelo.evaluation.match.fingerprint``). More games of the same run, or further agents, are an extension of it.
Versions are compared only where something is still to be played.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired, TypeAlias, TypedDict

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.fingerprint import changes
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.schedule import Pairings


class _Agent(TypedDict):
    name: str
    source: str
    fingerprint: NotRequired[dict[str, str]]
    number: NotRequired[int]


class _Openings(TypedDict):
    plies: int | None
    count: Annotated[int, msgspec.Meta(ge=1)]
    sha256: str


_Looks: TypeAlias = Annotated[tuple[Annotated[int, msgspec.Meta(ge=1)], ...], msgspec.Meta(min_length=1)]


class _LeaderTest(TypedDict):
    looks: _Looks
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    score: NotRequired[Scoring]


class _SprtTest(TypedDict):
    looks: _Looks
    elo0: float
    elo1: float
    alpha: float
    beta: float


class RunSpec(TypedDict, total=False):
    """The parts that are read; ``Tournament.to_dict`` writes them."""

    kind: Pairings
    env: Annotated[str, msgspec.Meta(min_length=1)]
    title: str
    seats: Annotated[list[str], msgspec.Meta(min_length=1, max_length=1_000)]
    env_fingerprint: dict[str, str]
    agents: list[_Agent]
    games: int
    rounds: int
    scheduled: int
    openings: _Openings | None
    opening_lines: list[tuple[str, list[Any]]]  # each one's position, in FEN or empty, and actions
    opening_lines_are_all: bool
    until_sure: _LeaderTest | None
    sprt: _SprtTest | None
    batches: list[list[tuple[int, int, int]]]  # of a run that decides its games in batches (``PairSchedule``)
    anchor: str | None
    score: Scoring
    left_out: list[str]
    assumed: list[str]
    versions: dict[str, str]
    machine: dict[str, Any]


_OPENINGS: Final = ("opening_lines", "opening_lines_are_all")
_DESCRIPTIVE: Final = ("title", "versions", "machine", "anchor", "score", "left_out", "assumed", *_OPENINGS)
"""Parts of a specification that do not decide the games."""
_GROWING: Final = ("agents", "games", "rounds", "scheduled", "openings")


def openings_hash(openings: Sequence[Any]) -> str:
    """Stands for these openings."""
    return hashlib.sha256(json.dumps(openings).encode()).hexdigest()[:16]


def check_same_run(
    folder: Any, there: Mapping[str, Any], here: Mapping[str, Any], openings: Sequence[Any]
) -> None:
    """Checks that the run asked for (``here``, with its openings) is the folder's, or goes on after it."""
    other = "choose another folder, or give the command that it was begun with"
    ours = {key: value for key, value in here.items() if key not in _DESCRIPTIVE}
    theirs = {key: value for key, value in there.items() if key not in _DESCRIPTIVE}
    for spec in (ours, theirs):
        spec["agents"] = [{"name": agent["name"], "source": agent["source"]} for agent in spec.get("agents", ())]
        spec.pop("env_fingerprint", None)
    if _extends(theirs, ours, openings):
        theirs |= {key: ours.get(key) for key in _GROWING}
    differ = _differences(theirs, ours)
    if differ:
        raise StoreError(f"{folder} already holds a tournament, and not this one ({differ}): {other}")
    pairs = [("environment", there.get("env_fingerprint"), here.get("env_fingerprint"))]
    pairs += [
        (agent["name"], old.get("fingerprint"), agent.get("fingerprint"))
        for old, agent in zip(there.get("agents", ()), here.get("agents", ()), strict=False)
    ]
    for name, old, new in pairs:
        if old is not None and new is not None and old != new:
            raise StoreError(
                f"{folder} holds games of another {name} ({changes(old, new)}), not to be mixed with those of "
                f"this one: {other}"
            )


def _extends(there: Mapping[str, Any], here: Mapping[str, Any], openings: Sequence[Any]) -> bool:
    """Whether this is the same schedule with more games or further agents, or, in rounds, with more of them."""
    old, new = there.get("games"), here.get("games")
    if not isinstance(old, int) or not isinstance(new, int) or old > new:
        return False
    if "rounds" in here:
        rounds, seats = there.get("rounds"), len(here["seats"])
        if here["kind"] != Pairings.SWISS or not isinstance(rounds, int) or rounds > here["rounds"]:
            return False
        if old != new or there["agents"] != here["agents"]:
            return False
        old = rounds * -(-old // seats) * seats
    if there["agents"] != here["agents"][: len(there["agents"])] or there.get("until_sure") or there.get("sprt"):
        return False
    before, after = there.get("openings"), here.get("openings")
    if not before or not after:
        return not before and not after
    count = before["count"]
    is_whole = count * len(here["seats"]) >= old or count == after["count"]  # none was used a second time
    return is_whole and bool(before["sha256"] == openings_hash(openings[:count]))


def check_versions(folder: Any, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Refuses to add games of other versions than the first ones were played with."""
    differ = _differences({**there, "python": ""}, {**here, "python": ""})
    if differ:
        raise StoreError(
            f"{folder} was begun with other versions ({differ}), and their games may differ: go on with those, or "
            "choose another folder"
        )


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    return "; ".join(f"{key}: {_short(there.get(key))} there, {_short(here.get(key))} here" for key in keys)


def _short(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict) and "source" in value[0]:
        agents = [(item["name"], item["source"]) for item in value]
        return ", ".join(name if name == source else f"{name} ({source})" for name, source in agents)
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
