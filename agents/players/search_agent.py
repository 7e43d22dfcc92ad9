"""What every searching agent has in common: settings, seeds, the way from a live environment to a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.checks import check_callable, check_choice, check_flag, check_whole
from zermelo.agents.core.gate import on_facts, require_decision, require_perfect_information
from zermelo.agents.core.importing import import_name
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.options import Ties
from zermelo.agents.core.recursion import deep_recursion
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.evaluators.naming import setting_text
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.evaluators.registry import default_evaluator, make_evaluator
from zermelo.agents.search.iterative_deepening import Iteration, deepen
from zermelo.agents.search.observer import NodeEvent, Observer
from zermelo.agents.search.results import answer
from zermelo.agents.search.sampling import as_sampled
from zermelo.agents.search.time_manager import TimeManager
from zermelo.envs import Chance, Game, InvalidSettingError, as_game
from zermelo.envs.adapters.as_game import BACKENDS
from zermelo.envs.game import Traits
from zermelo.envs.spec_text import format_spec
from zermelo.envs.traits import given_traits

__all__ = ["ConfiguredAgent", "Root", "SearchAgent", "TreeSearchAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ConfiguredAgent:
    """An agent whose settings are its fields, checked when it is made, and whose name is its spec.

    Attributes:
        seed: Where its random numbers start until ``reset`` gives another seed.
        name: What tables call it; by default the spec that ``make_agent`` reads back.
    """

    kind: ClassVar[str] = "agent"
    """The name in specs."""

    seed: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidSettingError(f"seed must be a whole number of at least 0, not {self.seed!r}")
        if not isinstance(self.name, str):
            raise InvalidSettingError(f"name must be text, not {self.name!r}")
        if not self.name:
            self._set("name", self.spec())
        self.reset(self.seed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec()}>"

    def spec(self) -> str:
        """The text that ``make_agent`` reads back: the name, and the settings that are not the default ones."""
        shown = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "name" and value != field.default:
                shown[field.name] = setting_text(value)
        return format_spec(self.kind, shown)

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game. With a seed, random numbers start from there; without, they go on."""
        if seed is not None:
            self._set("_generator", np.random.default_rng(seed))

    @property
    def generator(self) -> np.random.Generator:
        """The agent's stream of random numbers."""
        generator: np.random.Generator = self.__dict__["_generator"]
        return generator

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SearchAgent(ConfiguredAgent):
    """An agent that looks at a live environment as a game.

    Attributes:
        backend: How ``as_game`` should see the environment: ``"auto"``, or ``"clone"`` to search copies of the
            environment itself.
        traits: What you know better about the environment than ``as_game``, as fields of ``Traits`` by name.
    """

    backend: str = "auto"
    traits: Mapping[str, Any] | Traits | None = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InvalidSettingError(
                f"backend must be one of {', '.join(map(repr, BACKENDS))}, not {self.backend!r}"
            )
        given_traits(self.traits)
        super().__post_init__()

    def act(self, env: Any) -> Any:
        """The action to play, as ``env.step`` takes it.

        Raises:
            UnsupportedGameError: The game and this agent do not fit; the message names one that does.
            GameOverError: There is nothing to decide.
            KeyboardInterrupt: Ctrl-C was pressed; it is not caught here.
        """
        return self.search(env).env_action

    def search(self, env: Any) -> SearchResult:
        """Searches the position of a live environment, which is copied and never changed."""
        started = Budget.now()
        game = as_game(env, backend=self.backend, traits=self.traits)
        self.check_game(game.traits)
        return self._search(game, game.snapshot(env), started)

    def search_state(self, game: Any, state: Any = None) -> SearchResult:
        """Searches a state of a game.

        Args:
            game: A ``Game``, or what ``as_game`` makes one of.
            state: One of its states; the initial state, if not given.
        """
        started = Budget.now()
        game = as_game(game)
        self.check_game(game.traits)
        return self._search(game, game.initial_state() if state is None else state, started)

    def check_game(self, traits: Traits) -> None:
        """Raises ``UnsupportedGameError`` for a game that this agent cannot search."""
        require_perfect_information(traits, self.kind)

    def _search(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        require_decision(game, state)
        return on_facts(self.choose(game, state, started), game.traits)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        raise TypeError(f"{type(self).__name__} does not say how it chooses: define choose(game, state, started)")


class Root(NamedTuple):
    """What a search starts from.

    Attributes:
        game: The game; where chance can only be simulated, one of sampled chance.
        state: One of its states, not finished.
        evaluator: Of that game; None where the search goes to the end anyway.
        cutoff: The cut-off test of that game, or None.
        width: How many draws a chance state stands for; None where chance is exact.
    """

    game: Game[Any]
    state: Any
    evaluator: Evaluator | None
    cutoff: Callable[[Game[Any], Any, int], bool] | None
    width: int | None

    @property
    def is_sampled(self) -> bool:
        """Whether what a search finds is an estimate."""
        return self.width is not None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreeSearchAgent(SearchAgent):
    """Settings of every search of a game tree.

    Without a limit the search goes to the end of the game.

    Attributes:
        depth: Moves to look ahead, every player's counted and chance not.
        nodes: States to visit, all iterations together.
        seconds: Time to take, from the call on.
        evaluator: What a state at the depth limit is worth: an ``Evaluator``, the name of one (such as
            ``"playout(games=8)"`` or ``"mymodule:function"``), or None to take the game's own evaluation, else
            known features of the game, else playouts.
        cutoff: ``cutoff(game, state, ply)``: true where the search should evaluate a state instead of looking
            further, ``ply`` moves below the root.
        sooner: Whether, of equal values, wins should come sooner and losses later.
        ties: Which of several best actions to play: ``"random"`` (drawn from the seed) or ``"first"`` (the one
            with the smallest number).
        on_iteration: Called with a ``SearchResult`` after each finished iteration; if it returns False the search
            ends there.
        on_node: Called with a ``NodeEvent`` for what happens at each node below the root (coming to it, a table
            hit, a cut-off and what it leaves out, the score that comes of it): for drawing trees and for learning.
            The search is then in plain Python.
        best_lines: How many of the best actions get their exact value and principal variation
            (``SearchResult.best_lines``); more than one takes longer.
        manages_time: Whether to spend ``seconds`` where it pays, all of it only when the value has fallen: see
            ``TimeManager``. Without, all of it is spent on every move. Only with iterative deepening.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    evaluator: Evaluator | str | None = None
    cutoff: Callable[[Game[Any], Any, int], bool] | str | None = None
    sooner: bool = True
    ties: Ties = Ties.RANDOM
    on_iteration: Callable[[SearchResult], bool | None] | str | None = None
    on_node: Callable[[NodeEvent], Any] | str | None = None
    best_lines: int = 1
    manages_time: bool = False

    def __post_init__(self) -> None:
        self._set("_running", set())
        self._set("_limits", Limits(depth=self.depth, nodes=self.nodes, seconds=self.seconds))
        if self.evaluator is not None:
            self._set("evaluator", make_evaluator(self.evaluator))
        signatures = {
            "cutoff": "of game, state and ply",
            "on_iteration": "of a SearchResult",
            "on_node": "of a NodeEvent",
        }
        for name, signature in signatures.items():
            value = getattr(self, name)
            if isinstance(value, str) and ":" in value:
                value = import_name(value)
                self._set(name, value)
            check_callable(name, value, signature)
        check_flag("sooner", self.sooner)
        check_flag("manages_time", self.manages_time)
        check_whole("best_lines", self.best_lines, least=1)
        self._set("ties", check_choice("ties", self.ties, Ties))
        super().__post_init__()

    @property
    def limits(self) -> Limits:
        """The limits, as one object."""
        limits: Limits = self.__dict__["_limits"]
        return limits

    def new_budget(self, started: float) -> Budget:
        """What counts the nodes and the time of one search, and ends it when ``stop`` is called."""
        budget = Budget(self.limits, started)
        self.__dict__["_running"].add(budget.stop)
        return budget

    def stop(self) -> None:
        """Ends the searches of this agent that other threads have begun; each answers with what it has found.

        What stopped them is ``StoppedBy.INTERRUPT``. Later searches are not touched.
        """
        for flag in tuple(self.__dict__["_running"]):
            flag.is_set = True

    @property
    def has_budget(self) -> bool:
        """Whether a limit may stop the search half way, so that it should deepen step by step."""
        return self.nodes is not None or self.seconds is not None

    @property
    def cutoff_test(self) -> Callable[[Game[Any], Any, int], bool] | None:
        """The ``cutoff`` setting as a function."""
        assert not isinstance(self.cutoff, str), "names become functions when the agent is made"
        return self.cutoff

    @property
    def observer(self) -> Observer | None:
        """The ``on_node`` setting as a function."""
        assert not isinstance(self.on_node, str), "names become functions when the agent is made"
        return self.on_node

    def evaluator_for(self, game: Game[Any], state: Any) -> Evaluator | None:
        """The evaluator to use; None where the search goes to the end anyway."""
        if self.evaluator is not None:
            assert not isinstance(self.evaluator, str), "names become evaluators when the agent is made"
            return self.evaluator
        deepens = bool(getattr(self, "deepening", False))
        if self.depth is None and self.cutoff is None and not self.has_budget and not deepens:
            return None
        return default_evaluator(game, state)

    def root(self, game: Game[Any], state: Any, samples: int) -> Root:
        """What to search from a state, with so many draws for a chance event that can only be simulated."""
        evaluator, cutoff = self.evaluator_for(game, state), self.cutoff_test
        if game.traits.chance is not Chance.SAMPLED:
            return Root(game, state, evaluator, cutoff, None)
        return Root(*as_sampled(game, state, samples, self.generator, evaluator, cutoff), samples)

    def deepened(
        self,
        search: TreeSearch,
        state: Any,
        *,
        step_by_step: bool,
        exact: bool,
        is_estimate: bool = False,
        aspiration: float = 0.0,
    ) -> SearchResult:
        """Runs a search within the limits and says what it found.

        Args:
            search: How to search below the root.
            state: The root.
            step_by_step: Whether to search one move deep first, then two, and so on.
            exact: Whether every root action must get its exact value.
            is_estimate: Whether chance was sampled.
            aspiration: How far from the last iteration's value to look at first; 0 looks everywhere at once.
        """

        def result(iteration: Iteration | None, depth: int, stopped_by: StoppedBy) -> SearchResult:
            found = answer(
                search,
                state,
                iteration,
                depth=depth,
                stopped_by=stopped_by,
                exact=exact,
                ties=self.ties,
                draw=draw,
                is_estimate=is_estimate,
                best_lines=self.best_lines,
            )
            return on_facts(self.adjusted(search, state, found), search.game.traits)

        def watch(iteration: Iteration, depth: int, stopped_by: StoppedBy) -> bool:
            if self.on_iteration is None:
                return True
            assert not isinstance(self.on_iteration, str), "names become functions when the agent is made"
            return self.on_iteration(result(iteration, depth, stopped_by)) is not False

        draw = float(self.generator.random())
        ties = Ties.RANDOM if hasattr(search, "preferred") else self.ties  # it must see them all to prefer one
        try:
            with deep_recursion(search.game):
                found = deepen(
                    search,
                    state,
                    self.limits,
                    step_by_step=step_by_step,
                    exact=exact,
                    ties=ties,
                    watch=watch,
                    best_lines=self.best_lines,
                    aspiration=aspiration,
                    manager=self._time_manager(search, state),
                )
        finally:
            self.__dict__["_running"].discard(search.budget.stop)
        return result(*found)

    def _time_manager(self, search: TreeSearch, state: Any) -> TimeManager | None:
        """What decides after each iteration whether there is another, if it is not only the time."""
        if not self.manages_time or self.seconds is None:
            return None
        lower, upper = search.game.traits.utility_bounds
        return TimeManager(self.seconds, len(search.root_actions(state)), upper - lower)

    def adjusted(self, search: TreeSearch, state: Any, result: SearchResult) -> SearchResult:
        """What follows for this agent from what its search found: here, just that."""
        return result
