"""Tournaments that stop as soon as the games show who is best, or whether one agent is better than another.

``LeaderTest`` looks at the games at certain places of the schedule only, fixed before the first game: after whole
blocks, each time about half as many games again. At a look the leader is the agent that is rated above all others,
and it is known if against each of them the likelihood of being the stronger (``RatingTable.superiority``) is more
than 1 - level. What comes after a look plays no part in it, so the answer is the same for any number of workers.

The level is Bonferroni's: the chance ``alpha`` of naming a wrong leader is spent evenly on all looks and all
agents that might be named, level = alpha / (looks x agents). By the union bound the chance to be wrong is at most
``alpha``, as far as the ratings' model holds (independent games, strengths on one line, the normal approximation
of the likelihood).

Where the tables rank by rewards, the leader is who earned most, and the likelihood is that of a one-sided test of
the two means (``Rewards.inferiority``).

``SprtTest`` is Wald's test of two agents (``zermelo.evaluation.stats.ratings.sprt``), on pairs of games with the
seats exchanged. It looks after every pair at first, and later each time that there are a twentieth more.

Both judge by the games that the tables rate by (``Results.judged``): games that agents without chance repeat move
for move count once, and those of an agent that failed in every game not at all. Other games lost by a failure are
lost, but decide nothing: a verdict is one that stands without them too.

Source: D. L. DeMets and K. K. G. Lan, "Interim analysis: the alpha spending function approach", *Statistics in
Medicine* 13 (1994), 1341-1352, with the simplest spending there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.results import HeadToHead, Results
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.ratings.sprt import Decision, Sprt, SprtResult
from zermelo.evaluation.stats.rewards import Rewards, scoring_of
from zermelo.evaluation.stats.rows import dispersion

ALPHA: Final = 0.05
FIRST_GAMES: Final = 8
"""Games of each pairing before the first look."""
GROWTH: Final = 1.5


class StoppingRule(Protocol):
    """Says when a run may end."""

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of games, in the order of the schedule, at which the test looks; the last is its end."""

    def verdict(self, results: Results) -> str | None:
        """The decision of the games before a look, or None if they must go on."""

    def note(self, verdict: str | None, results: Results) -> str:
        """The note for the table."""


def _looks(schedule: Schedule, blocks: int, growth: float) -> tuple[int, ...]:
    """Numbers of games: of so many blocks, of more each time by the factor ``growth``, and of all."""
    looks = []
    while blocks < schedule.blocks:
        looks.append(schedule.block_end(blocks - 1))
        blocks = max(blocks + 1, round(growth * blocks))
    return (*looks, len(schedule))


@dataclass(frozen=True)
class LeaderTest:
    """A sequential test for the leader."""

    looks: tuple[int, ...]
    rivals: int  # how many other agents there are
    alpha: float = ALPHA  # the chance of naming a wrong leader
    score: Scoring = Scoring.AUTO  # what the tables rank by

    @classmethod
    def of(cls, schedule: Schedule, agents: int, score: Scoring = Scoring.AUTO) -> LeaderTest:
        """The test of that schedule."""
        if schedule.seats < 2:
            raise InvalidSettingError(
                "until_sure compares agents that meet, and this environment has one seat: choose a number of games"
            )
        return cls(_looks(schedule, -(-FIRST_GAMES // schedule.seats), GROWTH), agents - 1, score=score)

    @property
    def level(self) -> float:
        """The bound on the likelihood that a rival is the stronger."""
        return self.alpha / (len(self.looks) * (self.rivals + 1))

    def verdict(self, results: Results) -> str | None:
        """The leader if these games, all those before a look, make it known."""
        agents = self.rivals + 1 - len(results.failed_always)
        leader_of = self._strongest if scoring_of(results, self.score) is Scoring.WINS else self._richest
        leader = None if agents < 2 else leader_of(results.judged, agents)
        return leader if leader is not None and leader == leader_of(results.judged.finished, agents) else None

    def _strongest(self, results: Results, agents: int) -> str | None:
        ratings = fit_ratings(results.counts(), dispersion=dispersion(results))
        if len(ratings.players) != agents or len(ratings.components) != 1:
            return None
        first = max(ratings.players, key=lambda player: (player.elo, player.smoothed_elo))
        rivals = [player.name for player in ratings.players if player is not first]
        sure = all(ratings.superiority(rival, first.name) < self.level for rival in rivals)
        return first.name if sure else None

    def _richest(self, results: Results, agents: int) -> str | None:
        rewards = Rewards(results, Scoring.REWARDS)
        means = {agent: rewards.of(agent).mean for agent in rewards.agents}
        if len(means) != agents or any(map(math.isnan, means.values())):
            return None
        first = max(means, key=means.__getitem__)
        sure = all(rewards.inferiority(first, rival) < self.level for rival in means if rival != first)
        return first if sure else None

    def note(self, verdict: str | None, results: Results) -> str:
        """The note for the table."""
        sure = f"wrong in at most {self.alpha:.0%} of such tournaments"
        if verdict is None:
            return f"Who leads is not sure after all {results.games} games (to be {sure})."
        return f"{verdict} leads for sure, after {results.games} of at most {self.looks[-1]} games ({sure})."


@dataclass(frozen=True)
class SprtTest:
    """A sequential test of the first agent against the second."""

    looks: tuple[int, ...]
    agents: tuple[str, str]
    sprt: Sprt

    @classmethod
    def of(cls, schedule: Schedule, agents: tuple[str, ...], sprt: Sprt) -> SprtTest:
        """The test of that schedule."""
        if schedule.seats != 2 or len(agents) != 2:
            raise InvalidSettingError(
                f"a sequential test is of two agents in a game for two, not of {len(agents)} agents in one for "
                f"{schedule.seats}: use --until-sure, or --sprt with two agents"
            )
        return cls(_looks(schedule, 1, 1.05), (agents[0], agents[1]), sprt)

    def verdict(self, results: Results) -> str | None:
        """The hypothesis that the games accept."""
        decision = tested(self.sprt, results, self.agents)[0].decision
        return None if decision is Decision.CONTINUE else str(decision)

    def note(self, verdict: str | None, results: Results) -> str:
        """The note for the table."""
        (_, sentence), pairs = tested(self.sprt, results, self.agents), results.judged.between(*self.agents).pairs
        count = sum(pairs)
        counted = "1 pair" if count == 1 else f"{count} pairs"
        return f"SPRT of {' against '.join(self.agents)}: {sentence}, after {counted} of games."


def tested(sprt: Sprt, results: Results, agents: tuple[str, str]) -> tuple[SprtResult, str]:
    """The test of the games that are judged, and a sentence on it; it decides what they do without failures too.

    It is of single games where none has a second one with the seats exchanged.
    """
    judged = results.judged
    found, finished = (_test(sprt, games.between(*agents)) for games in (judged, judged.finished))
    if found.decision in (finished.decision, Decision.CONTINUE):
        return found, str(found)
    found = replace(found, decision=Decision.CONTINUE)
    failures = judged.games - judged.finished.games
    return (
        found,
        f"{found}, as games lost by failure ({failures}) decide nothing: without them LLR {finished.llr:.2f}",
    )


def _test(sprt: Sprt, games: HeadToHead) -> SprtResult:
    return sprt.test(pairs=games.pairs) if sum(games.pairs) else sprt.test(games.wins, games.draws, games.losses)


def rule_of(spec: Mapping[str, Any]) -> StoppingRule | None:
    """The rule that a run's specification has, or None."""
    if (sprt := spec.get("sprt")) is not None:
        settings = {key: value for key, value in sprt.items() if key != "looks"}
        if len(spec["agents"]) != 2:
            raise InvalidSettingError(f"a sequential test is of two agents, not {len(spec['agents'])}")
        first, second = (agent["name"] for agent in spec["agents"])
        return SprtTest(tuple(sprt["looks"]), (first, second), Sprt(**settings))
    if (sure := spec["until_sure"]) is not None:
        score = Scoring(sure.get("score", Scoring.AUTO))
        return LeaderTest(tuple(sure["looks"]), len(spec["agents"]) - 1, sure["alpha"], score)
    return None


def described(rule: StoppingRule | None) -> dict[str, Any]:
    """The rule as plain values for a specification; ``rule_of`` reads them."""
    sure: dict[str, Any] | None = None
    if isinstance(rule, LeaderTest):
        chosen = {} if rule.score is Scoring.AUTO else {"score": str(rule.score)}
        sure = {"looks": rule.looks, "alpha": rule.alpha, **chosen}
    if not isinstance(rule, SprtTest):
        return {"until_sure": sure}
    return {"until_sure": None, "sprt": {"looks": rule.looks, **asdict(rule.sprt)}}
