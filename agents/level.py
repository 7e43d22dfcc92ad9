"""Opponents of a known strength: levels of a ladder, whose rungs are agents with ratings.

A level between two rungs plays each game as one of them, so its expected score is the mean of theirs.
"""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import msgspec

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.memory import AgentState
from zermelo.agents.base.settings import number, path
from zermelo.agents.specs import make_agent, require_plain_agent
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.position import search_game
from zermelo.envs.rules.rules_game import RulesGame, is_shipped
from zermelo.envs.support.data_files import FileKind, ShortText, in_a_sentence, read_json
from zermelo.envs.support.files import file_version

FOLDER: Final = Path(__file__).with_name("ladders")
KIND: Final = FileKind("ladder", "`zermelo ladder ENV --out FILE` writes one")
_LARGEST: Final = 1 << 20


class Rung(NamedTuple):
    """A rated agent: its spec, its rating with the ends of the 95 % interval, and its milliseconds a move."""

    agent: str
    rating: float
    lower: float
    upper: float
    ms: float


class Unit(enum.StrEnum):
    """The quantity that the ratings of a ladder are."""

    ELO = "elo"
    REWARD = "reward"


class RungMixture(NamedTuple):
    """Two agents, and the share of games that the upper one plays."""

    lower: str
    upper: str
    share: float


class _StoredRung(msgspec.Struct):
    agent: ShortText
    lower: float
    upper: float
    ms: float
    elo: float | None = None
    reward: float | None = None


class _Perfect(msgspec.Struct):
    elo: float


class _StoredLadder(msgspec.Struct):
    """The content of a file, as far as it is read."""

    game: ShortText
    rungs: Annotated[list[_StoredRung], msgspec.Meta(min_length=2, max_length=1_000)]
    unit: Unit = Unit.ELO
    baseline: ShortText = ""
    perfect: _Perfect | None = None
    games: int = 0
    minutes: float = 0.0


@dataclass(frozen=True)
class Levels:
    """A ladder."""

    game: str  # what it is for, as ``ladder_key`` says it
    rungs: tuple[Rung, ...]  # the weakest first; with Elo that is ``random``, with 0
    unit: Unit = Unit.ELO  # of the ratings
    baseline: str = ""  # the agent in the other seats, where ratings are rewards
    about: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: environment, versions, date, games; the rating of perfect play, where it is known."""

    @classmethod
    def read(cls, file: str | Path) -> Levels:
        """The ladder in a file; refuses agents that a file may not name (``require_plain_agent``)."""
        with in_a_sentence(file, KIND):
            data = read_json(file, KIND, dict[str, Any], largest=_LARGEST)
            stored = msgspec.convert(data, _StoredLadder)
            found = [row.elo if stored.unit is Unit.ELO else row.reward for row in stored.rungs]
            ratings = [rating for rating in found if rating is not None]
            if len(ratings) < len(found) or ratings != sorted(ratings):
                raise ValueError(f"its rungs must have {stored.unit}, the weakest first")
            agents = [row.agent for row in stored.rungs] + [stored.baseline] * (stored.unit is Unit.REWARD)
            for agent in agents:
                try:
                    require_plain_agent(agent)
                except ZermeloError as error:
                    raise ValueError(str(error)) from error
        rungs = tuple(
            Rung(row.agent, rating, row.lower, row.upper, row.ms)
            for row, rating in zip(stored.rungs, ratings, strict=True)
        )
        about = {name: value for name, value in data.items() if name not in ("game", "rungs", "unit", "baseline")}
        return cls(stored.game, rungs, stored.unit, stored.baseline, about)

    def mix(self, rating: float) -> RungMixture:
        first, last = self.rungs[0], self.rungs[-1]
        if not first.rating <= rating <= last.rating:
            said = f"{rating:g}" if self.unit is Unit.ELO else f"reward={rating:g}"
            raise InvalidSettingError(
                f"level({said}) is not on the ladder of {self.game}, which goes from {self.shown(first.rating)} "
                f"({first.agent}) to {self.shown(last.rating)} ({last.agent})"
            )
        above = next(number for number in range(1, len(self.rungs)) if rating <= self.rungs[number].rating)
        lower, upper = self.rungs[above - 1], self.rungs[above]
        gap = upper.rating - lower.rating
        return RungMixture(lower.agent, upper.agent, (rating - lower.rating) / gap if gap else 1.0)

    def shown(self, rating: float) -> str:
        return f"{rating:.0f}" if self.unit is Unit.ELO else f"{rating:.3g}"

    def around(self, rating: float) -> str:
        """Where a rating is on the ladder, in words, with the ladder's ends."""
        first, last = self.rungs[0], self.rungs[-1]
        if rating <= first.rating:
            place = f"not above {first.agent}"
        elif rating > last.rating:
            place = f"above {last.agent}, the strongest"
        else:
            mix = self.mix(rating)
            place = f"between {mix.lower} and {mix.upper}"
        ends = f"{first.agent} {self.shown(first.rating)}, strongest rung {self.shown(last.rating)}"
        if perfect := self.about.get("perfect"):
            ends += f", perfect play about {self.shown(perfect['elo'])}"
        return f"{place}; {ends}"


def ladder_key(source: Any) -> str:
    """The name of a game in ladders: its rules with their parameters, or else the environment's name."""
    game = source if isinstance(source, RulesGame) else search_game(source)
    return str(game.rules) if isinstance(game, RulesGame) else game_name(source)


class _LadderGame(msgspec.Struct):
    game: str


@functools.cache  # without a key: the package's files stay the same
def _shipped() -> dict[str, Path]:
    """The ladders of this package, by their games."""
    return {msgspec.json.decode(path.read_bytes(), type=_LadderGame).game: path for path in FOLDER.glob("*.json")}


def _read(file: str | Path) -> Levels:
    return _read_version(os.fspath(file), *file_version(file))


@functools.lru_cache(maxsize=16)  # by the file's name and version: nothing else decides what is read
def _read_version(file: str, *_version: int) -> Levels:
    return Levels.read(file)


def levels_for(source: Any, file: str | None = None) -> Levels | None:
    """The ladder of a file, which must be this game's, or else the one of this package; None if there is none."""
    key = ladder_key(source)
    if file is None:
        game = source if isinstance(source, RulesGame) else search_game(source)
        is_own = not isinstance(game, RulesGame) or is_shipped(game.rules)  # others may have the same name
        shipped = _shipped().get(key) if is_own else None
        return None if shipped is None else _read(shipped)
    levels = _read(file)
    if levels.game != key:
        raise InvalidSettingError(f"{file} is the ladder of {levels.game}, not of {key}")
    return levels


class _Rungs(AgentState):
    """The agents of rungs that were needed so far, by their specs, and the one that plays this game."""

    def __init__(self) -> None:
        self.agents: dict[str, Any] = {}
        self.playing: Any = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LevelAgent(ConfiguredAgent):
    """Plays at a given strength: as the rungs of the game's ladder next to a rating do, game by game.

    Attributes:
        elo: The rating; ``random`` has 0. ``level(800)`` is short for ``level(elo=800)``.
        reward: The mean reward of a game instead, where the game's ladder is of rewards.
        file: A ladder of your own (``zermelo ladder ENV --out FILE``), in place of the one of this package.
    """

    kind: ClassVar[str] = "level"

    elo: float | None = number(None, "Elo")
    reward: float | None = number(None, "reward of a game")
    file: str | None = path()

    _rungs: _Rungs = field(init=False, default_factory=_Rungs)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.elo is None) == (self.reward is None):
            raise InvalidSettingError(
                "level needs a rating, as in level(800), or a reward, as in level(reward=0.5)"
            )
        if self.file is not None:
            self._mix(_read(self.file))

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        mix = self.mix_for(env)
        for spec in (mix.lower, mix.upper):
            agent = self._agent(spec)
            if isinstance(agent, ConfiguredAgent):
                agent.check_fit(env, view)

    def mix_for(self, source: Any) -> RungMixture:
        levels = levels_for(source, self.file)
        if levels is None:
            asked = f"elo={self.elo:g}" if self.elo is not None else f"reward={self.reward:g}"
            raise UnsupportedGameError(
                f"there is no ladder for {ladder_key(source)}: `zermelo ladder ENV --out FILE` makes one for "
                f"level({asked}, file='FILE')"
            )
        return self._mix(levels)

    def _mix(self, levels: Levels) -> RungMixture:
        rating = self.elo if levels.unit is Unit.ELO else self.reward
        if rating is None:
            ends = " to ".join(levels.shown(rung.rating) for rung in (levels.rungs[0], levels.rungs[-1]))
            name = "elo" if levels.unit is Unit.ELO else "reward"
            of = "Elo" if levels.unit is Unit.ELO else f"mean rewards of a game with {levels.baseline}"
            raise InvalidSettingError(
                f"the levels of {levels.game} are {of}, from {ends}: say level({name}=...), not {self.spec()}"
            )
        return levels.mix(rating)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._rungs.playing = None

    def _agent(self, spec: str) -> Any:
        agents = self._rungs.agents
        if spec not in agents:
            agents[spec] = make_agent(spec)
        return agents[spec]

    def decide(self, env: Any) -> Any:
        agent = self._rungs.playing
        if agent is None:
            mix = self.mix_for(env)
            spec = mix.upper if self.generator.random() < mix.share else mix.lower
            agent = self._agent(spec)
            agent.reset(int(self.generator.integers(2**31)))
            self._rungs.playing = agent
        return agent.act(env)
