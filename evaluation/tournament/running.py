"""Plays what a store lacks of a schedule: the loop of every run, new, resumed or stopped early."""

from __future__ import annotations

import contextlib
import signal
import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any, Final

from zermelo.evaluation.errors import RunInterrupt
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.output.progress import Pace, RunningTable, watcher
from zermelo.evaluation.schedule import Schedule, ScheduledGame
from zermelo.evaluation.stats.rounds import next_round
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.stopping import StoppingRule
from zermelo.evaluation.workers.work import Runner, Work

SIGNALS: Final = {name: getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
"""Ctrl-C; what a batch system or ``kill`` sends; what a terminal sends that is closed."""


class Interrupts:
    """Ctrl-C and other requests to end: noticed even if an agent swallows them, and never inside a write."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._held = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS.values():
                # Where somebody else handles a signal, or has it ignored (nohup), that is left alone.
                if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if not self._held:
            raise RunInterrupt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """An interrupt that comes inside is raised at the end; so is one that somebody swallowed before."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self.number is not None:
            raise RunInterrupt

    def off(self) -> None:
        """From now on a Ctrl-C is only remembered: something is being brought to its end."""
        self._held = True

    def on(self) -> None:
        """From now on a Ctrl-C is raised again."""
        self._held = False

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}


class _Missing(Sequence[ScheduledGame]):
    """The games between two places of a schedule that a store lacks, as far as it does now."""

    def __init__(self, schedule: Schedule, store: Store, places: range) -> None:
        self._schedule = schedule
        self.places = array("q", (place for place in places if not store.has(place)))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self._schedule[place] for place in self.places[index])
        return self._schedule[self.places[index]]


class Run:
    """One run of a schedule."""

    def __init__(self, schedule: Schedule, store: Store, test: StoppingRule | None) -> None:
        self._schedule, self._store, self._test = schedule, store, test
        self.verdict: str | None = None  # what the test has decided
        self.wanted = len(schedule)  # how many games turned out to be needed, from the beginning of the schedule
        self._missing = _Missing(schedule, store, range(len(schedule)))
        self._looks = list((len(schedule),) if test is None else test.looks)
        self._left = bisect_left(self._missing.places, self._looks[0])

    def _rounds(self) -> Iterator[_Missing]:
        """Yields what is missing of each round in turn, which is drawn when the rounds before are stored."""
        schedule, store = self._schedule, self._store
        if not schedule.pairings.in_rounds:
            yield self._missing
            return
        for number in range(schedule.rounds):
            places = schedule.round_places(number)
            missing = _Missing(schedule, store, places)
            if missing:
                played = store.rounds(before=places.start)
                drawn = next_round(schedule.pairings, schedule.agents, played)
                yield _Missing(replace(schedule, drawn={number: drawn}), store, places)

    def play(
        self,
        runner: Runner,
        work: Work[ScheduledGame, GameRecord],
        interrupts: Interrupts,
        *,
        table: Callable[[], RunningTable],
        progress: bool | None,
        on_game: Callable[[GameRecord], None] | None,
    ) -> None:
        """Plays what is missing and keeps it.

        ``table`` makes the table that is shown meanwhile, if ``progress`` says so or, where it is None, standard
        error is a terminal.
        """
        store, settled = self._store, self._is_settled()
        with contextlib.ExitStack() as stack:
            stack.callback(interrupts.on)
            total = len(self._schedule)
            before = total if settled else total - len(self._missing)
            pace = Pace(total, at_most=self._test is not None, before=before)
            watch = stack.enter_context(watcher(table, pace, shown=progress))
            stack.callback(interrupts.off)  # a terminal is always put back as it was

            def acknowledge() -> None:
                for record in store.kept():
                    watch(record)
                    if on_game is not None:
                        on_game(record)

            for missing in () if settled else self._rounds():
                with contextlib.closing(runner.run(work, missing)) as games:
                    for record in games:
                        with interrupts.held():
                            place = store.append(record)
                        self._left -= place is not None and place < self._looks[0]
                        acknowledge()
                        if self._is_settled():
                            break
            with interrupts.held():
                store.flush()
            acknowledge()
            with interrupts.held():
                store.forget(self.wanted)

    def _is_settled(self) -> bool:
        """Whether nothing needs to be played any more; looks at the games where a look is due."""
        while not self._left:
            look = self._looks.pop(0)
            if self._test is not None:
                self._store.flush()
                self.verdict = self._test.verdict(self._store.results(before=look))
                if self.verdict is not None:
                    self.wanted = look
                    return True
            if not self._looks:
                return True
            # Games come in any order: count what is missing between this look and the next.
            self._left = sum(not self._store.has(place) for place in range(look, self._looks[0]))
        return False
