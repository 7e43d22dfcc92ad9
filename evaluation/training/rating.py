"""How strong a policy is, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import finite
from zermelo.evaluation.stats.ratings.scales import plain
from zermelo.evaluation.stats.tally import SeatScore


@dataclass(frozen=True, kw_only=True)
class RungScore:
    """How the policy did against one baseline.

    Attributes:
        agent: The baseline.
        elo: Its rating, which is fixed.
        games: Games that count.
        wins: Games that the policy won.
        draws: Games drawn.
        losses: Games that the policy lost.
        score: The policy's mean score, 0 to 1.
        interval: 95 % confidence interval of ``score``.
    """

    agent: str
    elo: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    interval: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class PolicyRating:
    """A policy's strength on a ladder; ``print`` shows it.

    Attributes:
        env: The environment's name.
        rating: In Elo, on the ladder's scale, where ``random`` (else the first baseline) has 0. Always finite:
            for a policy that won or lost everything it comes of half a win more for each side.
        lower: Lower end of the 95 % interval of ``rating``, the ladder taken as known; ``-inf`` if all was lost.
        upper: Upper end; ``inf`` if everything was won.
        score: The mean score in all games, 0 to 1.
        rungs: The baselines in the order of the ladder.
        seat_names: The environment's seats.
        by_seat: Games and mean score from each of them.
        faults: How many games the policy lost by each kind of failure.
        games: Games that count.
        seed: What decided them.
        ladder: What tells this ladder from others: 16 hexadecimal digits.
        gain: The strength less that of ``previous``; None without one.
        notes: Sentences to be read before the numbers.
        scoring: What says more of the policy: where games pay amounts, such as chips, ``rewards``, else ``wins``.
        mean_reward: What a game paid the policy on average.
        reward_interval: Its 95 % confidence interval.
        accuracy: The share of optimal moves among its moves that mattered, 0 to 1; nan where none was judged.
        accuracy_interval: Its 95 % confidence interval.
        judged: How many of its moves mattered and could be judged.
        exploitability: What a player could gain that knew the policy; nan where that was not asked for.
    """

    env: str
    rating: float
    lower: float
    upper: float
    score: float
    rungs: tuple[RungScore, ...]
    seat_names: tuple[str, ...]
    by_seat: tuple[SeatScore, ...]
    faults: Mapping[FailureKind, int]
    games: int
    seed: int
    ladder: str
    gain: float | None = None
    notes: tuple[str, ...] = field(default=())
    scoring: Scoring = Scoring.WINS
    mean_reward: float = math.nan
    reward_interval: tuple[float, float] = (-math.inf, math.inf)
    accuracy: float = math.nan
    accuracy_interval: tuple[float, float] = (0.0, 1.0)
    judged: int = 0
    exploitability: float = math.nan

    @property
    def strength(self) -> float:
        """What policies are compared by: the rating, or the mean reward where games pay amounts."""
        return self.mean_reward if self.scoring is Scoring.REWARDS else self.rating

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values for JSON; what is not finite is None."""
        return {**plain(self, finite), "scoring": str(self.scoring)}

    def __str__(self) -> str:
        width = max(len("against"), *(len(rung.agent) for rung in self.rungs))
        ends = [f"{end:.0f}" if math.isfinite(end) else "?" for end in (self.lower, self.upper)]
        digits = ".3g" if self.scoring is Scoring.REWARDS else ".0f"
        gain = "" if self.gain is None else f", {self.gain:+{digits}} since the last"
        elo = f"{self.rating:.0f} Elo, 95 % interval {ends[0]} to {ends[1]}"
        lines = [
            f"{self.env}: {self._reward_text() or elo}{gain} ({self.games} games)",
            *([f"By wins alone: {elo}."] if self._reward_text() else []),
            "",
            f"{'against':{width}}   Elo  games  won  drawn  lost  score  95 % interval",
        ]
        for rung in self.rungs:
            low, high = (100 * end for end in rung.interval)
            lines.append(
                f"{rung.agent:{width}}  {rung.elo:4.0f}  {rung.games:5}  {rung.wins:3}  {rung.draws:5}  "
                f"{rung.losses:4}  {_percent(rung.score):>5}  {low:4.1f} - {high:.1f}"
            )
        seats = (
            f"{name} {_percent(seat.score)}" for name, seat in zip(self.seat_names, self.by_seat, strict=True)
        )
        lines += ["", f"score in %, by seat: {', '.join(seats)}"]
        if math.isfinite(self.accuracy):
            low, high = (100 * end for end in self.accuracy_interval)
            share = f"{_percent(self.accuracy)} % of {self.judged} moves that mattered were optimal"
            lines.append(f"{share}, 95 % interval {low:.1f} to {high:.1f}")
        if math.isfinite(self.exploitability):
            lines.append(f"exploitability: {self.exploitability:.4g}")
        if self.faults:
            lines.append("faults: " + ", ".join(f"{count} {kind}" for kind, count in self.faults.items()))
        return "\n".join(lines + [f"Note: {note}" for note in self.notes])

    def _reward_text(self) -> str:
        """The mean reward, where that says more than the rating."""
        if self.scoring is not Scoring.REWARDS or not math.isfinite(self.mean_reward):
            return ""
        low, high = (f"{end:.3g}" if math.isfinite(end) else "?" for end in self.reward_interval)
        return f"{self.mean_reward:.3g} a game, 95 % interval {low} to {high}"


def _percent(score: float) -> str:
    return f"{100 * score:.1f}" if math.isfinite(score) else "-"
