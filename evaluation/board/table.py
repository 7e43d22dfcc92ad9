"""A game on a page, for any thread: its clock, the agent that plays, and the analysis beside the board."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from zermelo.agents.specs import make_agent
from zermelo.envs.errors import (
    GameOverError,
    IllegalActionError,
    InvalidSettingError,
    UnsupportedGameError,
    ZermeloError,
)
from zermelo.evaluation.board import settings as board_settings
from zermelo.evaluation.board.jobs import Analyst, JobProcess, Jobs
from zermelo.evaluation.board.saving import formats_of, load_game, saved_game
from zermelo.evaluation.board.session import Session, ShownPosition, surface_of
from zermelo.evaluation.board.settings import LONGEST, BoardSettings, Clock, changed_settings, require_known
from zermelo.evaluation.match.readiness import rehearse, require_fit
from zermelo.evaluation.match.text import finite, printable, shown
from zermelo.evaluation.positions.drawing import png

_YOU: Final = "you"
_HINT_SECONDS: Final = 2.0
_REVIEW_SECONDS: Final = 0.3
_AFTER_FAILURE: Final = "Move now asks it again; or swap seats, take a move back, or start a new game"


class Table:
    """One game on a page. Only the settings that it begins with may name agents that run code of their own."""

    def __init__(self, settings: BoardSettings) -> None:
        self._lock = threading.RLock()
        self.on_change: Callable[[], None] = lambda: None  # called, in any thread, when there is something new
        self._player, self._analyst = JobProcess(), Analyst(self._lock, self._changed)
        for spec in (settings.opponent, settings.analyst):
            board_settings.require_startable(spec)
        self._given = settings
        self.version = 0  # greater after every change
        self._games = self._turns = 0
        self._begin(settings)

    def _begin(self, settings: BoardSettings, session: Session | None = None) -> None:
        made = session or Session(settings.env, frozenset({settings.seat}), settings.seed)
        seats = len(made.driver.seat_names)
        clock = Clock(settings.clock, seats) if settings.clock else None
        if seats > 1 and settings.seat >= 0:
            opponent = make_agent(settings.opponent)
            require_fit(opponent, made.driver.env, settings.opponent)
            if clock is not None:
                rehearse(opponent, made.driver.env)
        self._player.stop()
        self._settings, self._session, self._clock = settings, made, clock
        self._games += 1
        self._jobs = Jobs(settings, made, self._games)
        self._problem = ""
        self._analyst.moved(is_new=True)
        if seats > len(made.people) and made.mover in made.people:
            seat = min(set(range(seats)) - made.people)
            with contextlib.suppress(ZermeloError):  # the first move will say it
                self._player.prepare(self._jobs.ready(seat))
        self._moved()

    def new(self, wanted: dict[str, Any]) -> None:
        """A new game, with some settings changed; on failure the old game goes on."""
        with self._lock:
            settings = changed_settings(self._settings, wanted)
            require_known(settings.opponent, self._given)
            self._begin(settings)

    def _changed(self) -> None:
        self.version += 1
        self.on_change()

    def _is_agents(self, seat: int | None) -> bool:
        return seat is not None and seat not in self._session.people

    def surface(self) -> dict[str, Any] | None:
        with self._lock:
            return None if self._session.hides else surface_of(self._session.game)

    def frame(self, ply: int) -> str:
        return self._frame(ply).text

    def picture(self, ply: int) -> bytes | None:
        draw = self._frame(ply).picture
        return None if draw is None else png(draw())

    def _frame(self, ply: int) -> ShownPosition:
        with self._lock:
            frames = [*self._session.frames]
        if not 0 <= ply < len(frames):
            raise InvalidSettingError(f"there is no position {ply}: the game has {len(frames) - 1} moves")
        return frames[ply]

    def view(self) -> dict[str, Any]:
        with self._lock:
            self._look_at_clock()
            session = self._session
            seat = session.mover
            mine = seat is not None and seat in session.people
            return {
                "version": self.version, "turn": self._turns, "env": session.env_name,
                "people": sorted(session.people), "mover": seat,
                "seats": _seats_of(session, self._clock, self._names()), "yours": mine,
                "over": _outcome_of(session), "moves": _moves_of(session),
                "legal": [one._asdict() for one in session.legal()] if mine else [],
                "text": session.frames[-1].text, "hides": session.hides, "thinking": self._thinking,
                "waits": printable(self._player.waits) if self._thinking else "",
                "bounds": _bounds_of(session.game), "problem": printable(self._problem or self._analyst.problem),
                "formats": [str(form) for form in formats_of(session.env_name)],
                "settings": dataclasses.asdict(self._settings), "clocked": self._clock is not None,
                **self._analyst.view(),
            }  # fmt: skip

    def _names(self) -> list[str]:
        seats = range(len(self._session.driver.seat_names))
        return [self._settings.opponent if self._is_agents(seat) else _YOU for seat in seats]

    def _moved(self) -> None:
        self._thinking = False
        self._turns += 1
        self._since = time.monotonic()
        seat = self._session.mover
        if self._clock is not None:
            # A game begins with the first move: nobody's time runs before it.
            self._clock.start(seat if self._session.played else None)
        self._follow()
        if seat is None:
            self._player.stop()
        elif self._is_agents(seat):
            self._ask_agent(seat)
        self._changed()

    def _ask_agent(self, seat: int) -> None:
        try:
            job = self._jobs.move(seat)
        except ZermeloError as error:
            self._problem = str(error)
            return
        self._thinking = True
        turn = self._turns
        if self._clock is not None:
            job["clock"] = self._clock.shown(seat)
        self._player.ask(job, lambda answer: self._agent_moved(turn, answer))

    def _agent_moved(self, turn: int, answer: dict[str, Any]) -> None:
        with self._lock:
            if turn != self._turns or self._session.mover is None:
                return
            if "waits" in answer:
                self._changed()
                return
            self._thinking = False
            self._look_at_clock()
            if self._session.mover is None:
                return  # the answer came after the flag fell
            if "failed" in answer:
                self._problem = f"{self._settings.opponent}: {answer['failed']}. {_AFTER_FAILURE}"
                self._changed()
                return
            try:
                self._play(answer["action"], float(answer["seconds"]), answer["figures"])
            except ZermeloError as error:
                self._problem = f"{self._settings.opponent} played {error}"
                self._changed()

    def _play(self, move: Any, seconds: float, figures: Sequence[Any] = ()) -> None:
        self._session.play(move, seconds=seconds, figures=figures)
        if self._clock is not None:
            self._clock.press()
        self._problem = ""
        self._moved()

    def play(self, move: Any, turn: Any) -> None:
        """Plays a person's move in the position of a turn, the number that the view had then."""
        if isinstance(move, bool) or not isinstance(move, int | str) or len(str(move)) > LONGEST:
            raise InvalidSettingError(f"a move is its number or a text, not {shown(move, 40)}")
        with self._lock:
            self._look_at_clock()
            if self._is_agents(self._session.mover):
                raise GameOverError("it is not your turn")
            if type(turn) is not int or turn != self._turns:
                raise IllegalActionError(
                    f"the move was chosen in turn {shown(turn, 20)}, and this is turn {self._turns}: the position "
                    "has changed, so look at it and choose again"
                )
            try:
                self._play(str(move), time.monotonic() - self._since)
            except IllegalActionError as error:
                raise IllegalActionError(f"That is {error}") from error

    def back(self) -> None:
        with self._lock:
            has_time = self._session.lost_on_time is None
            self._session.take_back()
            self._clock = self._clock if has_time else None
            self._changed_by_person()

    def swap(self) -> None:
        with self._lock:
            self._session.swap()
            self._changed_by_person()

    def _changed_by_person(self) -> None:
        self._player.stop()
        self._problem = ""
        self._moved()

    def now(self) -> None:
        """Has the agent play what it has found so far; one that has failed to move is asked again."""
        with self._lock:
            if self._thinking:
                self._player.stop(keep=True)
            elif (seat := self._session.mover) is not None and self._is_agents(seat):
                self._problem = ""
                self._ask_agent(seat)
                self._changed()

    def _look_at_clock(self) -> None:
        fallen = None if self._clock is None else self._clock.fallen()
        if fallen is None or self._session.mover is None:
            return
        self._player.stop()
        self._session.fall(fallen)
        assert self._clock is not None, "it has fallen"
        self._clock.start(None)
        self._thinking = False
        self._changed()

    def analyse(self, on: Any, ply: Any = None, agent: Any = None) -> None:
        """Begins or ends the analysis of a position; that of the last one goes on with the next moves."""
        if not isinstance(on, bool):
            raise InvalidSettingError(f"on is true or false, not {shown(on, 40)}")
        spec = None if agent is None else board_settings.text_setting("agent", agent)
        require_known(spec or "", self._given)
        with self._lock:
            if spec:
                make_agent(spec)
            settings = dataclasses.replace(self._settings, analyst=spec or self._settings.analyst)
            last = len(self._session.played)
            at = last if ply is None else ply
            job = self._jobs.analysis(at, settings.analyst) if on else None
            self._settings = self._jobs.settings = settings
            self._analyst.stop()
            self._analyst.follows = on and at == last
            if job is not None:
                self._analyst.analyse(job, at)
            self._changed()

    def _follow(self) -> None:
        follows = self._analyst.follows
        self._analyst.moved()
        if follows and self._session.mover is not None:
            ply = len(self._session.played)
            with contextlib.suppress(UnsupportedGameError, GameOverError):
                self._analyst.analyse(self._jobs.analysis(ply, self._settings.analyst), ply)

    def hint(self) -> None:
        with self._lock:
            self._look_at_clock()
            if self._is_agents(self._session.require_mover()):
                raise GameOverError("there is no hint to give: it is not your turn")
            ply = len(self._session.played)
            self._analyst.look_for_hint(self._jobs.analysis(ply, self._settings.analyst, _HINT_SECONDS), ply)
            self._changed()

    def review(self) -> None:
        with self._lock:
            self._analyst.review(self._jobs.review(self._names(), _REVIEW_SECONDS))
            self._changed()

    def save(self, form: str) -> str:
        with self._lock:
            if self._session.hides:
                raise UnsupportedGameError("a file would show what is hidden: wait for the end of the game")
            finished = self._session.mover is None
            return saved_game(self._session.record(self._names()), form, finished=finished)

    def load(self, text: Any) -> None:
        """Takes the game of a file; on failure nothing is changed."""
        if not isinstance(text, str):
            raise InvalidSettingError("a game is loaded from the text of a file")
        with self._lock:
            self._session = self._session.loaded(load_game(text, self._settings.env))
            self._games += 1
            self._jobs = Jobs(self._settings, self._session, self._games)
            self._clock = None  # nobody knows what time was left
            self._changed_by_person()

    def close(self) -> None:
        self._player.close()
        self._analyst.close()


def _moves_of(session: Session) -> list[dict[str, Any]]:
    moves = []
    for (seat, text), (move, _, path) in zip(session.seen_moves(), session.played, strict=True):
        seen = {"seat": seat, "text": printable(text), "seconds": move.seconds}
        if not session.hides:
            seen |= {"path": path, "value": finite(move.value), "depth": finite(move.depth), "nodes": move.nodes}
        moves.append(seen)
    return moves


def _seats_of(session: Session, clock: Clock | None, players: Sequence[str]) -> list[dict[str, Any]]:
    seats = []
    for seat, name in enumerate(session.driver.seat_names):
        left = None if clock is None else round(clock.left(seat), 2)
        seen = {"name": printable(name), "player": players[seat], "reward": session.rewards[seat], "clock": left}
        seats.append(seen)
    return seats


def _outcome_of(session: Session) -> str | None:
    if session.mover is not None:
        return None
    names, rewards = session.driver.seat_names, session.rewards
    if session.lost_on_time is not None:
        return f"{printable(names[session.lost_on_time])} has lost on time"
    if len(names) == 1:
        return f"The game is over: {rewards[0]:g} points"
    best = [name for name, reward in zip(names, rewards, strict=True) if reward == max(rewards)]
    verdict = f"{best[0]} wins" if len(best) == 1 else "a draw" if len(best) == len(names) else "shared"
    earned = ", ".join(f"{name} {reward:g}" for name, reward in zip(names, rewards, strict=True))
    return printable(f"The game is over: {verdict} ({earned})")


def _bounds_of(game: Any) -> list[float] | None:
    """The lowest and highest reward of a seat, where that is known."""
    bounds = None if game is None else game.traits.utility_bounds
    return [*bounds] if bounds is not None and all(map(math.isfinite, bounds)) else None
