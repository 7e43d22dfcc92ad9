"""Findings: what play and searches have seen of environments, kept for later ones of the same origin.

They are kept in this process and in the cache folder, a file for each origin. What was seen stays seen: a search
that meets what an environment was assumed not to have adds it, for all agents and processes.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.envs.game import Chance, Evidence, Information, RewardSum, Traits
from zermelo.envs.support.files import read_checked, write_checked
from zermelo.envs.traits.origin import Origin

_LARGEST: Final = 1 << 22
_MOST_ORIGINS: Final = 256
_FEW_STEPS, _FEW_GAMES = 100, 3
"""With fewer moves and games than these the evidence of an assumption is thin."""


class Seen(msgspec.Struct, frozen=True):
    """A value that a trait was seen to have: what was seen, and whether searches had assumed otherwise."""

    value: str
    text: str
    is_late: bool = False


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """Observations of environments of one origin in play.

    Attributes:
        seen: By field of ``Traits``, what was seen to be so.
        needed: The fields that play looked for, as nobody had told them.
        games: Games that were played to their end.
        steps: Moves that were played.
        pairs: Positions that look different, so that what players see may be all there is.
        starts_alike: Whether each start looked like another one to who moves first.
        constant: What all games paid, if that was the same; None where nothing was paid, or no game ended.
        pays: Whether anything was paid.
        cancels: Whether every payment was zero for all players together.
        hidden_lists: Paths of the lists whose order nobody sees, drawn again before every move.
        tried_all_lists: Whether there was time to ask that of every list.
        draws_from: The generators that steps drew from and the environment does not hold.
        draws_idly: Whether steps draw from the environment's own generators, without making a difference.
        ignored_paths: Attributes that differ although nothing else does, such as clocks: no part of a key.
        noisy: Parts of what is shown that differ although nothing else does.
        as_numpy: Whether actions must be integers of NumPy's.
        pays_by_rewards: Whether ``rewards`` count, and not what ``last()`` pays.
        slow_keys: Whether a key takes longer than several moves.
        patience: The seconds that it was given, if it did not come to its end in that time.
        notes: What users should be told, as the ends of sentences that begin with the environment's name.
        sides: The name under which an environment for one player says at each step whose move it is, if it does.
        trouble: Why nothing could be played, if so.
    """

    seen: dict[str, Seen] = {}
    needed: tuple[str, ...] = ()
    games: int = 0
    steps: int = 0
    pairs: int = 0
    starts_alike: bool = True
    constant: float | None = None
    pays: bool = False
    cancels: bool = True
    hidden_lists: tuple[tuple[str | int, ...], ...] = ()
    tried_all_lists: bool = True
    draws_from: tuple[str, ...] = ()
    draws_idly: bool = False
    ignored_paths: dict[str, dict[str, str]] = {}
    noisy: tuple[str, ...] = ()
    as_numpy: bool = False
    pays_by_rewards: bool = False
    slow_keys: bool = False
    patience: float | None = None
    notes: tuple[str, ...] = ()
    sides: str = ""
    trouble: str = ""

    @property
    def sufficient_patience(self) -> float:
        """The patience with which play would show no more."""
        return math.inf if self.patience is None else self.patience

    @property
    def draws_nothing(self) -> bool:
        """Whether no step was seen to draw a random number."""
        return "chance" not in self.seen and not self.draws_idly and not self.draws_from

    def seen_traits(self) -> tuple[dict[str, Any], dict[str, Evidence]]:
        """The fields of ``Traits`` that were seen, and the evidence for each."""
        values: dict[str, Any] = {name: one.value for name, one in self.seen.items()}
        if "terminal_rewards_only" in values:
            values["terminal_rewards_only"] = False
        if self.hidden_lists:
            values |= {"drawn_again": self.hidden_lists, "deals_again": True, "chance": Chance.SAMPLED}
        if values.get("reward_sum") == RewardSum.GENERAL:
            values["constant"] = 0.0
        evidence = {name: Evidence(one.text, False, one.is_late) for name, one in self.seen.items()}
        if self.hidden_lists:
            lists = ", ".join(sorted(".".join(map(str, path)) for path in self.hidden_lists))
            text, drawn = f"players do not see the order of {lists}, which is drawn again", evidence.get("chance")
            evidence["chance"] = (
                Evidence(text, False) if drawn is None else Evidence(f"{text}; {drawn.text}", False, drawn.is_late)
            )
        return values, evidence

    def assumed_traits(self, seats: int) -> tuple[dict[str, Any], dict[str, Evidence]]:
        """The fields of ``Traits`` that are assumed where nothing else was seen, and the evidence for each."""
        played = self.trouble or f"in {_count(self.steps, 'step')} of {_count(self.games, 'whole game')}"
        is_short = self.steps < _FEW_STEPS and self.games < _FEW_GAMES
        idly = ", which draw random numbers without effect" if self.draws_idly or self.draws_from else ""
        deals = "" if self.starts_alike else "; starts look different, so that what they deal may be hidden"
        lists = "" if self.tried_all_lists else "; no time to try whether the order of each of its lists is hidden"
        hidden = f"nothing hidden in {_count(self.pairs, 'pair')} of positions{deals}{lists}"
        if not self.pairs:
            hidden = f"no two positions that could be compared {played}"
        evidence = {
            "chance": Evidence(f"no chance {played}{idly}", is_short or not self.games),
            "information": Evidence(hidden, is_short or not self.pairs),
        }
        reward_sum, constant = RewardSum.GENERAL, 0.0
        if seats == 2:
            constant = self.constant or 0.0
            reward_sum = RewardSum.CONSTANT if constant else RewardSum.ZERO
            evidence["reward_sum"] = self._of_payoffs(played)
        values = {
            "information": Information.PERFECT,
            "chance": Chance.NONE,
            "reward_sum": reward_sum,
            "constant": constant,
            "terminal_rewards_only": False,
        }
        return values, evidence

    def _of_payoffs(self, played: str) -> Evidence:
        if not self.pays:
            return Evidence(f"no payoff {played}", is_thin=True)
        if not self.games:
            return Evidence(f"no end {played}, though payments cancel", is_thin=True)
        return Evidence(f"{_count(self.games, 'whole game')} paid {self.constant or 0.0:g} in all", False)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


NOTHING: Final = Findings(patience=0.0, trouble="as nothing was played")
"""The findings about an environment that was not played."""


_known: Final[dict[Origin, Findings]] = {}
_lock: Final = threading.Lock()


def _keep(origin: Origin, findings: Findings) -> Findings:
    """Keeps findings, and forgets the oldest where there are many: their classes could not be freed."""
    _known[origin] = findings
    while len(_known) > _MOST_ORIGINS:
        del _known[next(iter(_known))]
    return findings


def recall(origin: Origin) -> Findings | None:
    """The findings about environments of an origin, the same object until they change; None if there are none."""
    found = _known.get(origin)
    if found is None and (found := _read(origin.file())) is not None:
        with _lock:
            found = _keep(origin, _known.get(origin, found))
    return found


def remember(origin: Origin, findings: Findings) -> Findings:
    """Keeps findings; what was seen before, by whomever, stays seen. Returns both together."""
    file = origin.file()
    with _lock:
        for earlier in (_known.get(origin), _read(file)):  # another process may have written meanwhile
            if earlier is not None:
                findings = msgspec.structs.replace(
                    findings,
                    seen={**earlier.seen, **findings.seen},
                    draws_from=tuple(sorted({*earlier.draws_from, *findings.draws_from})),
                )
        if file is not None:
            with contextlib.suppress(OSError):  # then the next process sees it again
                file.parent.mkdir(parents=True, exist_ok=True)
                write_checked(file, msgspec.json.encode(findings))
        return _keep(origin, findings)


def clear_memory() -> None:
    """Forgets what this process knows; files stay."""
    with _lock:
        _known.clear()


def see(origin: Origin, field: str, value: str, text: str, drawn: Iterable[str] = ()) -> None:
    """Keeps what was seen only after searches had assumed something else; ``drawn`` are more of ``draws_from``."""
    known = recall(origin) or NOTHING
    draws_from = tuple(sorted({*known.draws_from, *drawn}))
    if field not in known.seen or draws_from != known.draws_from:
        seen = {field: Seen(value, text, is_late=True), **known.seen}
        remember(origin, msgspec.structs.replace(known, seen=seen, draws_from=draws_from))


def _read(file: Path | None) -> Findings | None:
    content = None if file is None else read_checked(file, _LARGEST)
    if content is None:
        return None
    try:
        found = msgspec.json.decode(content, type=Findings)
        Traits(name="", seat_names=(), **found.seen_traits()[0])  # checks them
    except (ValueError, TypeError, RecursionError):
        return None
    return found
