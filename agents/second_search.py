"""Searching environments of which something is assumed: again, with what fits, once a search has seen otherwise.

A drop-in agent raises nothing in the middle of a game. One that cannot search the game as it turned out to be has
another one answer by its limits: ``maxn`` where players are not simply opposed, ``expectiminimax`` or
``mcts`` where there is chance; and no more nodes are searched than the agent itself would have.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.clock import TimeShare
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.memory import Asked
from zermelo.agents.base.requirements import tell_once
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import setting_fields
from zermelo.agents.specs import agent_class
from zermelo.envs.adapters.foretold import seen_again
from zermelo.envs.adapters.watching import Looked, watching
from zermelo.envs.errors import AssumptionFailed, EnvFailedError, GameOverError, UnsupportedGameError
from zermelo.envs.game import Chance, Game, RewardSum, Traits, TraitSource
from zermelo.envs.position import Position, position
from zermelo.envs.traits.findings import see
from zermelo.envs.traits.observability import random_action

_MOST_TIMES: Final = 5  # there are three traits that may fail
_LEAST: Final = 0.1
"""Of the time of a search what the next one has at least."""
_LINES, _LINES_THIN, _LINES_SHARE, _LINES_OF_NODES = 32, 400, 0.02, 0.005
"""Steps of random lines before the first search of a game, and where no payoff was seen; the share of a search's
time that they may take; and how many come, before later searches without a time, for each node so far."""
_HERE: Final = "turned out not to be as assumed"
_OF_CLASS: Final = "is searched by what play of its class has shown"
"""Openings of the warning: this search saw it, or it was seen of another environment of the class."""
_IN_COMMON: Final = (
    "depth", "nodes", "seconds", "evaluator", "stop_test", "prefer_short_wins", "ties", "samples", "memory_mb",
    "exact", "backend", "traits", "compile", "seed", "on_iteration",
)  # fmt: skip
"""Settings that mean the same for every agent that has them."""


class Searcher(Protocol):
    """The parts of a ``SearchAgent`` that repeating its search needs."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    kind: ClassVar[str]

    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def traits(self) -> Mapping[str, Any] | Traits | None: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def time_share(self) -> TimeShare | None: ...
    @property
    def generator(self) -> np.random.Generator: ...
    @property
    def asked(self) -> Asked: ...

    def reset(self, seed: int | None = None) -> None: ...
    def check_game(self, game: Game[Any]) -> None: ...
    def search_position(self, root: Position, started: float) -> SearchResult: ...


def searched_again(agent: Searcher, env: Any, root: Position, started: float) -> SearchResult:
    """Searches a position and watches what is assumed; searches again where that turns out to be false."""
    began = Budget.now()
    asked = agent.asked
    if asked.game is root.game and seen_again(asked.game, asked.state, asked.action, root.state):
        root = position(env, backend=agent.backend, traits=agent.traits)
    started += Budget.now() - began
    share = agent.time_share
    seconds = agent.limits.seconds if share is None else share.usual
    searching, nodes, times, failures, drawn = agent, 0, 0, list[AssumptionFailed](), set[str]()
    bits = agent.generator.bit_generator
    random_state = bits.state
    while True:
        fitting = _fitting(searching, root)
        if fitting is not searching:
            fitting = _no_dearer(agent, fitting, root)
        try:
            with watching(root.game, root.state) as state:
                watched = root._replace(state=state)
                _look_around(watched, seconds)
                found: SearchResult = fitting.search_position(watched, started if not times else Budget.now())
            if getattr(state, "watch", None) is not None:
                root.game.assumed.looked.nodes += found.nodes
            break
        except AssumptionFailed as failed:
            times, nodes = times + 1, nodes + failed.nodes
            if failed.drawn and root.game.traits.chance is Chance.SAMPLED and not root.game.assumed.by_order:
                drawn.update(failed.drawn)  # it was known that there is chance, and not where it comes from
            else:
                failures.append(failed)
            origin = root.game.assumed.origin
            see(origin, failed.field, failed.value, failed.seen, failed.drawn)  # it may be another process's
            if times == _MOST_TIMES:
                raise
        bits.state = random_state  # it finds what it would have found at once
        root = position(env, backend=agent.backend, traits=agent.traits)
        spent = Budget.now() - started
        searching = _with_less(agent, nodes, None if seconds is None else max(seconds - spent, _LEAST * seconds))
    notes = list[str]()
    if failures or fitting is not agent:
        about = _about(agent, fitting, root, found, failures)
        text = about.rpartition(",")[0]
        tell_once(root.game, f"{_HERE if failures else _OF_CLASS}: {text}", about=text)
        notes.append(about)
    if drawn:
        notes.append(f"a step drew from {' and '.join(sorted(drawn))}, which was not known: searched again")
    if notes:
        note = "; ".join(filter(None, [found.note, *notes]))
        found = dataclasses.replace(found, note=note, seconds=Budget.now() - started)
    is_alone = root.game.traits.seats == 1 and "chance" in root.game.traits.assumed
    asked.game, asked.state, asked.action = root.game if is_alone else None, root.state, found.env_action
    return found


def _look_around(root: Position, seconds: float | None) -> None:
    """Plays random lines where players are assumed to be opposed: what is good for both, pruning leaves out."""
    game, traits = root.game, root.game.traits
    if "reward_sum" not in traits.assumed or getattr(root.state, "watch", None) is None:
        return
    lines = _LINES_THIN if traits.evidence["reward_sum"].is_thin else _LINES
    looked: Looked = game.assumed.looked
    most, ends = looked.lines + lines, Budget.now() + _LINES_SHARE * (seconds or 0.0)
    if seconds is None:  # most searches to a depth are short
        most, ends = lines + int(_LINES_OF_NODES * looked.nodes), math.inf
    generator = np.random.default_rng(looked.lines)
    while looked.lines < most and Budget.now() < ends:
        state = game.playout_state(root.state)
        with contextlib.suppress(EnvFailedError, GameOverError):
            while looked.lines < most and not game.is_terminal(state):
                looked.lines += 1
                state = game.play_on(state, random_action(game, state, generator))
                if Budget.now() >= ends:
                    return


def _fitting(agent: Searcher, root: Position) -> Searcher:
    """The agent itself where it can search the game, or where that was told; else the one that answers for it."""
    traits = root.game.traits
    if TraitSource.SEEN not in (traits.source("reward_sum"), traits.source("chance")):
        return agent
    try:
        agent.check_game(root.game)
    except UnsupportedGameError as refused:
        other = _like(agent, _instead(agent, traits))
        try:
            other.check_game(root.game)
        except UnsupportedGameError:
            raise refused from None
        return other
    return agent


def _instead(agent: Searcher, traits: Traits) -> str:
    if traits.seats > 1 and traits.reward_sum is RewardSum.GENERAL:
        return "maxn"
    has_depth = "depth" in {setting.name for setting in setting_fields(agent)}
    return "expectiminimax" if has_depth else "mcts"


def _like(agent: Searcher, name: str) -> Searcher:
    """An agent of another class with the settings that it has in common with this one."""
    cls = agent_class(name)
    own = {setting.name for setting in setting_fields(agent)} & {setting.name for setting in setting_fields(cls)}
    settings = {setting: getattr(agent, setting) for setting in _IN_COMMON if setting in own}
    made: Searcher = cls(**settings, name=agent.name)
    made.reset(int(agent.generator.integers(2**31)))
    return made


def _with_less(agent: Searcher, nodes: int, seconds: float | None) -> Searcher:
    """The agent with what is left of its limits."""
    names = {setting.name for setting in setting_fields(agent)}
    changes: dict[str, Any] = {}
    if "nodes" in names and agent.limits.nodes is not None:
        changes["nodes"] = max(agent.limits.nodes - nodes, 1)
    if "seconds" in names and seconds is not None:
        changes["seconds"] = seconds
    if not changes:
        return agent
    less = dataclasses.replace(agent, **changes)
    less.reset(int(agent.generator.integers(2**31)))
    return less


def _no_dearer(agent: Searcher, other: Searcher, root: Position) -> Searcher:
    """The other agent, limited to the nodes that this one would search, where only its depth limits it."""
    limits = other.limits
    if limits.nodes is not None or limits.seconds is not None:
        return other
    traits = dataclasses.replace(root.game.traits, chance=Chance.NONE)
    if traits.seats == 2:
        traits = dataclasses.replace(traits, reward_sum=RewardSum.ZERO, constant=0.0)
    game = root.game.with_traits(traits, root.game.outside)
    try:
        agent.check_game(game)
    except UnsupportedGameError:
        return other
    alone: dict[str, Any] = {"workers": 1}
    counting = dataclasses.replace(agent, **alone) if _uses_processes(agent) else agent
    would = counting.search_position(root._replace(game=game), Budget.now()).nodes
    return dataclasses.replace(other, nodes=max(would, 1))


def _uses_processes(agent: Searcher) -> bool:
    return any(
        setting.name == "workers" and getattr(agent, setting.name) != 1 for setting in setting_fields(agent)
    )


def _about(
    agent: Searcher, fitting: Searcher, root: Position, found: SearchResult, failures: Sequence[AssumptionFailed]
) -> str:
    """A sentence on what was seen, and what answered."""
    traits = root.game.traits
    names = [name for name in ("reward_sum", "chance") if traits.source(name) is TraitSource.SEEN]
    seen = " and ".join(f"{name} is {getattr(traits, name)} ({traits.evidence[name].text})" for name in names)
    if not seen:  # the user gave all traits
        seen = " and ".join(failed.seen for failed in failures)
    by = "searched again" if fitting.kind == agent.kind else f"searched by {fitting.kind} instead of {agent.kind}"
    if _uses_processes(agent) and not _uses_processes(fitting):
        by += " and in one process"
    how_far = f"with {found.simulations:,} simulations" if found.simulations else f"to depth {found.depth}"
    return f"{seen}: {by}, {how_far}"
