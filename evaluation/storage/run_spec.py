"""Types that the stored specification of a run is checked against, as far as it is read."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

import msgspec

from zermelo.evaluation.match.score import Scoring


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

    kind: str
    env: Annotated[str, msgspec.Meta(min_length=1)]
    seats: Annotated[list[str], msgspec.Meta(min_length=1, max_length=1_000)]
    env_fingerprint: dict[str, str]
    agents: list[_Agent]
    games: int
    scheduled: int
    openings: _Openings | None
    until_sure: _LeaderTest | None
    sprt: _SprtTest | None
    anchor: str | None
    score: Scoring
    left_out: list[str]
    history: list[dict[str, Any]]
    versions: dict[str, str]
    machine: dict[str, Any]
