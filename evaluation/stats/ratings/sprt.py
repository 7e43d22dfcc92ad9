"""Wald's sequential test of one agent against another: stop as soon as the games have decided.

The logarithm of the likelihood ratio (LLR) is the generalized one (see ``scores``), so that rates of draws need
not be assumed. Elo is normalized: a game's mean over its standard deviation, times ``800 / ln 10`` (M. Van den
Bergh, "Normalized Elo", https://www.cantate.be/Fishtest/normalized_elo.pdf).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.match.text import rounded
from zermelo.evaluation.results import observed
from zermelo.evaluation.stats.ratings.scores import fit_t_value

_NORMALIZED_ELO_UNIT = 800.0 / math.log(10.0)
_NEVER_SEEN = 1e-3  # games that an outcome that never happened counts as, as in fishtest and fastchess


class Decision(enum.StrEnum):
    """The state of the test."""

    CONTINUE = "continue"
    ACCEPT_H0 = "accept H0"  # the difference is ``elo0`` rather than ``elo1``
    ACCEPT_H1 = "accept H1"  # the difference is ``elo1`` rather than ``elo0``


@dataclass(frozen=True, kw_only=True)
class SprtResult:
    """The state of a sequential test.

    Attributes:
        llr: Logarithm of the likelihood ratio of ``elo1`` to ``elo0``; positive speaks for ``elo1``.
        lower_bound, upper_bound, elo0, elo1, alpha, beta: Those of the ``Sprt``.
        paired: Whether pairs of games were counted.
    """

    llr: float
    lower_bound: float
    upper_bound: float
    decision: Decision
    games: int
    elo0: float
    elo1: float
    alpha: float
    beta: float
    paired: bool

    def __str__(self) -> str:
        chosen, other = f"{self.elo1:g}", f"{self.elo0:g}"
        if self.decision is Decision.ACCEPT_H0:
            chosen, other = other, chosen
        said = f"{chosen} normalized Elo stronger rather than {other}"
        if self.decision is Decision.CONTINUE:
            said = f"not decided between {self.elo0:g} and {self.elo1:g} normalized Elo"
        return f"{said} (LLR {rounded(self.llr, 2)}, bounds {self.lower_bound:.2f} and {self.upper_bound:.2f})"


@checked_call
@dataclass(frozen=True, kw_only=True)
class Sprt:
    """A sequential test, checked when made; ask it after each game or pair.

    Attributes:
        elo0: The hypothesis H0, a difference in Elo of the first agent over the second.
        elo1: The hypothesis H1, in Elo, greater than ``elo0``.
        alpha: The probability of accepting H1 when H0 is true.
        beta: The probability of accepting H0 when H1 is true.

    Raises:
        InvalidSettingError: ``elo0`` is not less than ``elo1``, ``alpha`` or ``beta`` is not strictly between 0
            and 1, or their sum is not less than 1.
    """

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise InvalidSettingError(
                f"elo0 must be less than elo1 and both finite, not elo0={self.elo0!r} and elo1={self.elo1!r}"
            )
        for name in ("alpha", "beta"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise InvalidSettingError(
                    f"{name} must lie strictly between 0 and 1, such as 0.05, not {getattr(self, name)!r}"
                )
        if self.alpha + self.beta >= 1.0:
            raise InvalidSettingError(
                f"alpha + beta must be less than 1, not {self.alpha!r} + {self.beta!r}: the test would be a coin"
            )

    @property
    def lower_bound(self) -> float:
        """The LLR at or below which H0 is accepted."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper_bound(self) -> float:
        """The LLR at or above which H1 is accepted."""
        return math.log((1.0 - self.beta) / self.alpha)

    def test(
        self, wins: int = 0, draws: int = 0, losses: int = 0, *, pairs: Sequence[int] | None = None
    ) -> SprtResult:
        """The state of the test after single games, or pairs of games counted as LL, LD, WL, DD, WD, WW."""
        values, counts, _, games_each = observed(wins, draws, losses, pairs)
        observations = sum(counts)
        weights = [float(n) if n else _NEVER_SEEN for n in counts]
        total = math.fsum(weights)
        frequencies = [w / total for w in weights]
        ratios = [0.0] * len(values)
        if observations:
            unit = math.sqrt(games_each) / _NORMALIZED_ELO_UNIT
            p0, p1 = (fit_t_value(values, frequencies, 0.5, elo * unit) for elo in (self.elo0, self.elo1))
            ratios = [math.log(b / a) for a, b in zip(p0, p1, strict=True)]
        llr = total * math.fsum(f * r for f, r in zip(frequencies, ratios, strict=True))
        lower, upper = self.lower_bound, self.upper_bound
        decision = Decision.CONTINUE
        if llr >= upper:
            decision = Decision.ACCEPT_H1
        elif llr <= lower:
            decision = Decision.ACCEPT_H0
        return SprtResult(
            llr=llr, lower_bound=lower, upper_bound=upper, decision=decision, games=observations * games_each,
            paired=games_each == 2, **asdict(self),
        )  # fmt: skip


@checked_call
def sprt(
    wins: int = 0,
    draws: int = 0,
    losses: int = 0,
    *,
    pairs: Sequence[int] | None = None,
    elo0: float = 0.0,
    elo1: float = 5.0,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SprtResult:
    """The state of a sequential test of two agents.

    Args:
        wins: Games won by the first agent.
        draws: Games drawn.
        losses: Games lost.
        pairs: Instead of the three, counts of pairs of games with the seats exchanged: LL, LD, WL, DD, WD, WW.
        elo0: The hypothesis H0, a difference in Elo of the first agent over the second.
        elo1: The hypothesis H1, in Elo, greater than ``elo0``.
        alpha: The probability of accepting H1 when H0 is true.
        beta: The probability of accepting H0 when H1 is true.

    Raises:
        InvalidSettingError: A setting is impossible (see ``Sprt``), a count is negative or no whole number, or
            both kinds of count are given.
    """
    return Sprt(elo0=elo0, elo1=elo1, alpha=alpha, beta=beta).test(wins, draws, losses, pairs=pairs)
