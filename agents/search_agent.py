"""Shared by all searching agents: settings, seeds, the way from a live environment to a result."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from zermelo.agents.base.budget import Budget, StopFlag
from zermelo.agents.base.clock import GameClock, TimeShare
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.memory import NO_LIMITS, Asked, Pondering, RunningSearches, TimeState, TransientState
from zermelo.agents.base.recursion import MAX_PLIES, GameTooLongError
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import (
    agents_that_fit,
    require_decision,
    require_perfect_information,
    warn_of_assumptions,
)
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Compile, choice, declared
from zermelo.envs.adapters.as_game import BACKENDS, as_game
from zermelo.envs.clone.settings_kept import SettingsKept
from zermelo.envs.errors import AssumptionFailed, GameOverError, UnsupportedGameError
from zermelo.envs.game import Game, Traits
from zermelo.envs.live.wrappers import game_name, is_dead
from zermelo.envs.position import Position, live_env, position
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import unknown_choice
from zermelo.envs.traits.merging import PATIENCE, checked_traits

if TYPE_CHECKING:
    from zermelo.envs.jit.kernel import Wanted

_BRIEF: Final = 0.1
DEFAULT_SECONDS: Final = 1.0  # how long a search takes that deepens step by step and has no limit


class _CheckedGame(TransientState):
    game: Game[Any] | None = None  # that the agent has last been found to fit


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SearchAgent(ConfiguredAgent):
    """An agent that looks at a live environment as a game.

    Attributes:
        backend: How the environment is searched: ``"auto"`` by the fastest exact way, ``"rules"`` by registered
            rules only, ``"environment"`` without rules of this package, ``"clone"`` by copies of the environment.
        traits: What you know better about the environment than ``as_game``, as fields of ``Traits`` by name.
        compile: When rules are compiled: ``"wait"``, before the first search; ``"background"``, during it;
            ``"never"``. Until they are, searches run in plain Python. Except with ``"background"``, the first
            search also waits for random play that shows what an environment without rules is; else that is
            assumed. Clocks start after the wait.
    """

    requires: ClassVar[tuple[Callable[[Traits, str], None], ...]] = (require_perfect_information,)
    """Functions of ``requirements`` that the game must pass."""
    default_limits: ClassVar[Limits] = NO_LIMITS  # the limits of a search that is given none

    backend: str = declared("auto", None, " or ".join(BACKENDS))
    traits: Mapping[str, Any] | Traits | None = declared(None, None, "a dictionary, or Traits")
    compile: Compile = choice(Compile.WAIT)

    _time: TimeState = field(init=False, default_factory=TimeState)
    _running: RunningSearches = field(init=False, default_factory=RunningSearches)
    _pondering: Pondering = field(init=False, default_factory=Pondering)
    _checked: _CheckedGame = field(init=False, default_factory=_CheckedGame)
    _asked: Asked = field(init=False, default_factory=Asked)

    @property
    def limits(self) -> Limits:
        """Limits of a search: the settings that are limits, else ``default_limits``."""
        return self._time.limits

    @property
    def asked(self) -> Asked:
        """The last position that was searched and the action, to see whether that led where a copy says."""
        return self._asked

    @property
    def time_share(self) -> TimeShare | None:
        """The share of a game's clock that the next search may take; None without a clock."""
        return self._time.share

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise unknown_choice("backend", self.backend, BACKENDS)
        checked_traits(self.traits)
        super().__post_init__()

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        limits = Limits(**self.given_limits())
        self._time.limits = self.default_limits if limits == NO_LIMITS else limits
        self._time.share, self._time.is_clocked = None, False

    def given_limits(self) -> dict[str, Any]:
        return {limit.name: getattr(self, limit.name, None) for limit in dataclasses.fields(Limits)}

    @property
    def is_timed(self) -> bool:
        """True if time is a limit of its searches, or nothing is: a game's clock then limits them too."""
        given = Limits(**self.given_limits())
        return given.seconds is not None or given == NO_LIMITS

    @property
    def most_seconds(self) -> float:
        """The limit on time that was given, which a game's clock does not raise; infinity without one."""
        seconds: float | None = self.given_limits()["seconds"]
        return math.inf if seconds is None else seconds

    def tell_clock(self, clock: GameClock) -> None:
        """Has the next search take its share of the time left in a game; ``seconds`` stays an upper limit.

        Searches that only nodes, simulations or depth limit stay as they are.
        """
        if not self.is_timed:
            return
        time, share = self._time, clock.share()
        time.share = share
        # Memory is made for a limit, and kept from move to move while the limit is the same.
        longest = min(2.0 ** math.ceil(math.log2(share.most)), self.most_seconds)
        if not time.is_clocked or longest > (time.limits.seconds or 0.0):
            time.limits = dataclasses.replace(Limits(**self.given_limits()), seconds=longest)
            time.is_clocked = True

    def decide(self, env: Any) -> Any:
        return self._search_env(env).env_action

    @checked_call
    def search(self, env: Any) -> SearchResult:
        """Searches the position of a live environment, which is copied and never changed.

        The name of an environment, rules and games are taken too, and searched from their start.
        """
        env = live_env(env)
        if is_dead(env):
            raise GameOverError(
                f"the game of {game_name(env)} is over for {env.agent_selection!r}: call env.step(None)"
            )
        with SettingsKept(lambda: game_name(env)):
            return self._search_env(env)

    def _search_env(self, env: Any) -> SearchResult:
        started = Budget.now()
        patience = 0.0 if self.compile is Compile.BACKGROUND else PATIENCE
        if (share := self._time.share) is not None:
            patience = min(patience, share.most)
        root = position(env, backend=self.backend, traits=self.traits, patience=patience)
        started += root.preparing
        if not root.game.traits.is_watched:
            return self.search_position(root, started)
        from zermelo.agents.second_search import searched_again  # which brings all of ``clone``

        return searched_again(self, env, root, started)

    def search_state(self, game: Any, state: Any = None) -> SearchResult:
        """Searches a state of a game, which may also be given as rules, an environment or its name.

        Without a state it is the one where a live environment stands, or the initial one; it may be OpenSpiel's.
        """
        started = Budget.now()
        with SettingsKept(lambda: "the game"):
            root = position(game, state)
            return self.search_position(root, started + root.preparing)

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        """Does all that a first search of a live environment, or its name, would wait for.

        Random play on copies shows in ``seconds`` at most what the environment is, unless that is known; rules are
        compiled.
        """
        with SettingsKept(lambda: "the environment"):
            position(env, backend=self.backend, traits=self.traits, patience=seconds)

    def kernels(self, root: Position) -> list[Wanted]:
        """The kernels that searching a position takes, the search's own first; none of most agents.

        No search says so, and no file of the game's, such as an opening book, is read.
        """
        return []

    def seconds_to_prepare(self, env: Any, seconds: float) -> float | None:
        """The limit of a brief search that prepares later ones: a step of a copy may take long, compiling too."""
        from zermelo.envs.adapters.copies import CopiedGame

        game = position(env, backend=self.backend, traits=self.traits).game
        return max(seconds, _BRIEF) if isinstance(game, CopiedGame) else None

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        game = as_game(env, backend=self.backend, traits=self.traits)
        try:
            self.check_game(game)
        except UnsupportedGameError:  # a run that has begun goes on, with what answers for this agent
            if not any(evidence.is_late for evidence in game.traits.evidence.values()):
                raise
        if self._has_files:
            root = position(env, backend=self.backend, traits=self.traits)
            self._look_up(root.game, root.state)

    # Files of the opening book and the endgame table, of agents that have such settings.

    @property
    def book(self) -> str | None:
        return None

    @property
    def tables(self) -> str | None:
        return None

    @property
    def _has_files(self) -> bool:
        return self.book is not None or self.tables is not None

    def _look_up(self, game: Game[Any], state: Any) -> dict[str, Any] | None:
        """The answer of the opening book, if there is one; the files are read and checked."""
        from zermelo.agents.knowledge.books import book_answer
        from zermelo.agents.knowledge.endgame_tables import table_for

        table_for(self.tables, game)
        return None if self.book is None else book_answer(self.book, game, state, self.generator)

    def check_game(self, game: Game[Any]) -> None:
        """Raises ``UnsupportedGameError`` for a game that this agent cannot search."""
        for require in self.requires:
            require(game.traits, self.kind)

    def stop(self) -> None:
        """Ends the searches of this agent that other threads have begun; each answers with what it has found.

        What stopped them is ``StoppedBy.INTERRUPT``. Later searches are not touched.
        """
        self._running.stop()

    def ponder(self) -> None:
        """Begins to think on the opponent's time, in a thread, until the next search, reset or ``stop_pondering``.

        It searches the position after the reply that is expected; ``pondered`` counts how often that came. Only in
        games of perfect information without chance.
        """
        self._pondering.begin(self.ponder_until)

    def stop_pondering(self) -> None:
        self._pondering.end()

    def ponder_until(self, flag: StopFlag) -> bool:
        """Searches the position after the expected reply until the flag is set; False where none is expected."""
        after = self._pondering.after_reply()
        if after is None:
            return False
        game, state = self._pondering.expected = after
        asked = Position(game, state, source=None, renumbers=False)
        request = Request(asked, self.limits, game.legal_actions(state), compile=self.compile, ponders=True)
        with SettingsKept(lambda: game.traits.name):
            self.choose(request, request.budget(stop=flag))
        return True

    def stop_by(self, flag: StopFlag) -> None:
        """Has the searches from now on end too when a flag is set, which others share."""
        self._running.shared = flag

    def request(self, root: Position) -> Request:
        """The request to search a position by the limits of this agent.

        Raises:
            GameOverError: There is nothing to decide.
        """
        legal, seat = require_decision(root.game, root.state), None
        share, self._time.share = self._time.share, None
        traits = root.game.traits
        if traits.simultaneous:
            names, asked = traits.seat_names, str(getattr(root.source, "agent_selection", ""))
            seat = names.index(asked) if asked in names else None
        return Request(root, self.limits, legal, seat, share, self.compile)

    def search_position(self, root: Position, started: float) -> SearchResult:
        """Searches a position by the limits of this agent, which count from ``started``.

        Raises:
            AssumptionFailed: The position is watched, and a step was not as it was assumed.
        """
        game, state = root.game, root.state
        if self._checked.game is not game:
            self.check_game(game)
            warn_of_assumptions(game)
            self._checked.game = game
        self.stop_pondering()
        if (is_hit := self._pondering.was_expected(game, state)) is not None:
            self._game.pondered = self.pondered.after(is_hit=is_hit)
        request = self.request(root)
        budget = request.budget(started, self._running.shared)
        self._running.flags.add(budget.stop)
        try:
            found = None
            if self._has_files:
                with budget.off_the_clock():
                    known = self._look_up(game, state)
                found = None if known is None else request.result(budget, **known)
            if found is None:
                found = self.choose(request, budget)
        except AssumptionFailed as failed:
            failed.nodes = budget.nodes
            raise
        except (RecursionError, GameTooLongError) as error:  # nothing made room for agents that take no depth
            plies = getattr(error, "plies", MAX_PLIES)
            raise GameTooLongError(game, plies, self.advice_if_too_long(game.traits)) from None
        finally:
            self._running.flags.discard(budget.stop)
        self._pondering.searched = root, found.principal_variation
        return found

    def advice_if_too_long(self, traits: Traits) -> str:
        return f"use {agents_that_fit(traits)}"

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        """Searches a position that this agent can search, with something to decide; ``request.result`` answers."""
        raise TypeError(f"{type(self).__name__} does not say how it chooses: define choose(request, budget)")
