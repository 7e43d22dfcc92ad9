"""Opponents of a known strength: levels of a ladder, whose rungs are agents with ratings.

A ladder is a file (``zermelo ladder``); those of this package are in the folder ``ladders``. Ratings are those of
Elo's formula, draws counting half, and ``random`` has 0. A level between two rungs plays each game as one of them.
Its expected score against anybody is then the mean of theirs, and as neighbours are near each other, the rating
that belongs to it is in between in the same proportion.

Where games pay amounts, or a team plays together, a ladder rates by the mean reward of a game with a fixed agent,
the baseline, in all other seats. A level's mean reward there is exactly what its name says.
"""

from __future__ import annotations

import enum
import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.settings import number, path
from zermelo.agents.specs import make_agent
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.position import search_game
from zermelo.envs.rules.rules_game import RulesGame

FOLDER: Final = Path(__file__).with_name("ladders")


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


class Mixture(NamedTuple):
    """Two agents, and the share of games that the upper one plays."""

    lower: str
    upper: str
    share: float


@dataclass(frozen=True)
class Levels:
    """A ladder.

    Attributes:
        game: What it is for, as ``ladder_key`` says it.
        rungs: The weakest first; with Elo that is ``random``, with 0.
        unit: Of the ratings.
        baseline: The agent in the other seats, where ratings are rewards.
        about: How it was made: environment, versions, date, games; the rating of perfect play, where it is known.
    """

    game: str
    rungs: tuple[Rung, ...]
    unit: Unit = Unit.ELO
    baseline: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, file: str | Path) -> Levels:
        try:
            data = json.loads(Path(file).read_text(encoding="utf-8"))
            unit = Unit(data.get("unit", "elo"))
            columns = unit, *Rung._fields[2:]
            rungs = tuple(
                Rung(str(row["agent"]), *(float(row[name]) for name in columns)) for row in data["rungs"]
            )
            game = str(data["game"])
        except OSError as error:
            raise InvalidSettingError(f"cannot read the ladder {file}: {error.strerror or error}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidSettingError(
                f"{file} is no ladder: `zermelo ladder ENV --out FILE` writes one"
            ) from error
        ratings = [rung.rating for rung in rungs]
        if len(rungs) < 2 or ratings != sorted(ratings) or not all(map(math.isfinite, ratings)):
            raise InvalidSettingError(f"{file} is no ladder: it needs two rungs or more, the weakest first")
        about = {name: value for name, value in data.items() if name not in ("game", "rungs", "unit", "baseline")}
        return cls(game, rungs, unit, str(data.get("baseline", "")), about)

    def mix(self, rating: float) -> Mixture:
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
        return Mixture(lower.agent, upper.agent, (rating - lower.rating) / gap if gap else 1.0)

    def shown(self, rating: float) -> str:
        """A rating as text."""
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


@functools.cache
def _shipped() -> dict[str, Levels]:
    return {levels.game: levels for levels in map(Levels.read, sorted(FOLDER.glob("*.json")))}


_read = functools.lru_cache(maxsize=16)(Levels.read)


def levels_for(source: Any, file: str | None = None) -> Levels | None:
    """The ladder of a file, or the one of this package for a game or environment; None if there is none.

    Raises:
        InvalidSettingError: The file cannot be read, or is the ladder of another game.
    """
    key = ladder_key(source)
    if file is None:
        return _shipped().get(key)
    levels = _read(file)
    if levels.game != key:
        raise InvalidSettingError(f"{file} is the ladder of {levels.game}, not of {key}")
    return levels


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LevelAgent(ConfiguredAgent):
    """Plays at a given strength: as the rungs of the game's ladder next to a rating do, game by game.

    Attributes:
        elo: The rating; ``random`` has 0. ``level(800)`` is short for ``level(elo=800)``.
        reward: The mean reward of a game instead, where the game's ladder is of rewards.
        file: A ladder of your own (``zermelo ladder ENV --out FILE``), in place of the one of this package.
    """

    kind: ClassVar[str] = "level"

    elo: float | None = number(None)
    reward: float | None = number(None)
    file: str | None = path()

    def __post_init__(self) -> None:
        self._set("_agents", {})
        super().__post_init__()
        if (self.elo is None) == (self.reward is None):
            raise InvalidSettingError(
                "level needs a rating, as in level(800), or a reward, as in level(reward=0.5)"
            )
        if self.file is not None:
            self._mix(_read(self.file))

    def mix_for(self, source: Any) -> Mixture:
        levels = levels_for(source, self.file)
        if levels is None:
            asked = f"elo={self.elo:g}" if self.elo is not None else f"reward={self.reward:g}"
            raise UnsupportedGameError(
                f"there is no ladder for {ladder_key(source)}: `zermelo ladder ENV --out FILE` makes one for "
                f"level({asked}, file='FILE')"
            )
        return self._mix(levels)

    def _mix(self, levels: Levels) -> Mixture:
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
        self._set("_playing", None)

    def decide(self, env: Any) -> Any:
        agent = self.__dict__["_playing"]
        if agent is None:
            mix = self.mix_for(env)
            spec = mix.upper if self.generator.random() < mix.share else mix.lower
            agents = self.__dict__["_agents"]
            agent = agents[spec] = agents.get(spec) or make_agent(spec)
            agent.reset(int(self.generator.integers(2**31)))
            self._set("_playing", agent)
        return agent.act(env)
