"""Asks a policy how likely it plays each action in the states of a game."""

from __future__ import annotations

import copy
import time
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.settings import Ties
from zermelo.agents.baselines import GreedyAgent, NoisyAgent, RandomAgent
from zermelo.agents.equilibrium.agents import CFRAgent, PolicyTableAgent
from zermelo.agents.opponents.models import acted_in, replies, searched_policy
from zermelo.agents.policies.policy import PolicyAgent, ViewAgent, view_at
from zermelo.agents.specs import copied_agent
from zermelo.agents.tree_search.agent import TreeSearchAgent
from zermelo.envs.capabilities import SupportsInformationStates, SupportsObservations, offers
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError
from zermelo.envs.game import Chance

Replies: TypeAlias = Sequence[tuple[int, float]]
_MOST_KEPT: Final = 200_000  # answers; then all are forgotten
_DOUBT: Final = 0.02  # the share of moves of which an estimate of a policy says nothing


def own_agent(given: Any) -> Any:
    """An agent that can be asked without disturbing the one given; or that of a spec."""
    made = copied_agent(given)
    if isinstance(made, NoisyAgent):
        return NoisyAgent(agent=own_agent(made.agent), epsilon=made.epsilon, seed=made.seed, name=made.name)
    if isinstance(given, str) or isinstance(made, ConfiguredAgent):
        return made
    try:
        return copy.deepcopy(made)
    except Exception:  # what cannot be copied is asked as it is
        return made


def acts_only(agent: Any) -> bool:
    """True if an agent can only be asked in environments, so that states must be copies of one."""
    if isinstance(agent, NoisyAgent):
        return acts_only(agent.agent)
    return not (isinstance(agent, ViewAgent | RandomAgent) or hasattr(agent, "search_state"))


def _is_known(agent: Any, game: Any) -> bool:
    """True if one answer gives the probability of each action."""
    match agent:
        case NoisyAgent():
            return _is_known(agent.agent, game)
        case PolicyAgent():  # else a function that may draw
            return agent.sample
        case ViewAgent() | RandomAgent() | CFRAgent() | PolicyTableAgent():
            return True
        case GreedyAgent():
            return game.traits.chance is not Chance.SAMPLED
        case TreeSearchAgent():
            is_same = agent.is_exact or agent.ties is Ties.FIRST
            return is_same and not agent.is_timed and game.traits.chance is not Chance.SAMPLED
        case _:
            return False


def _shares(agent: Any, game: Any, state: Any, seed: int | None) -> Mapping[int, float]:
    """The probability of each action; or, where one answer does not tell it, the answer with a seed."""
    match agent:
        case NoisyAgent():
            actions, chosen = game.legal_actions(state), _shares(agent.agent, game, state, seed)
            rest = agent.epsilon / len(actions)
            return {action: rest + (1 - agent.epsilon) * chosen.get(action, 0.0) for action in actions}
        case ViewAgent():
            agent.reset(agent.seed if seed is None else seed)
            return agent.probabilities(view_at(game, state))
    if seed is None or isinstance(agent, RandomAgent):
        return searched_policy(agent, game, state)
    agent.reset(seed)
    if not hasattr(agent, "search_state"):
        return {acted_in(agent, game, state): 1.0}
    result = agent.search_state(game, state)
    return result.policy or {result.action: 1.0}


class AskedPolicy:
    """A policy as a distribution over the actions of each state, asked once for all that it cannot tell apart.

    Where one answer does not tell how likely each action is, as of a search that draws random numbers, the policy
    is asked with ``asks`` seeds, and their answers count alike: an estimate.

    Attributes:
        is_known: Whether the probabilities are the policy's own.
        varies: Whether answers to one question have differed, so that the probabilities are estimates.
        asked: How often the policy was asked, and ``seconds`` for how long.
        failed: How often it failed; there it counts as random play. ``failure`` has the first in words.
    """

    def __init__(self, game: Any, agent: Any, asks: int) -> None:
        self._game, self._agent, self._asks = game, agent, asks
        self.is_known = _is_known(agent, game)
        self._sees = isinstance(agent, ViewAgent) and offers(game, SupportsObservations)
        self._informed = offers(game, SupportsInformationStates)
        self._answers: dict[Hashable, Replies] = {}
        self.varies = False
        self.asked = self.failed = 0
        self.seconds, self.failure = 0.0, ""

    def replies(self, state: Any) -> Replies:
        """The actions that the player to move may choose, each with its probability."""
        key = self._key(state)
        found = self._answers.get(key)
        if found is None:
            if len(self._answers) >= _MOST_KEPT:
                self._answers.clear()
            found = self._answers[key] = self._ask(state)
        return found

    def likelihoods(self, game: Any, state: Any) -> Mapping[int, float]:
        """How likely each action was, to judge by what the policy has done: an estimate excludes none."""
        found = dict(self.replies(state))
        if self.is_known and not self.failed:
            return found
        actions = game.legal_actions(state)
        rest = _DOUBT / len(actions)
        return {action: (1 - _DOUBT) * found.get(action, 0.0) + rest for action in actions}

    def check(self, state: Any) -> None:
        """Asks once, and raises what the policy raises."""
        self._once(state, None if self.is_known else 0)

    def _once(self, state: Any, seed: int | None) -> Replies:
        self.asked += 1
        return replies(lambda game, here: _shares(self._agent, game, here, seed), self._game, state)

    def _key(self, state: Any) -> Hashable:
        game = self._game
        mover = game.to_move(state)
        if not self._sees:
            return mover, game.information_state_key(state, mover) if self._informed else game.key(state)
        seen, actions = game.observation(state, mover), tuple(game.legal_actions(state))
        if isinstance(seen, np.ndarray) and seen.dtype.kind in "biuf":
            return mover, seen.shape, seen.tobytes(), actions
        try:
            return mover, state_key(seen), actions
        except CloneError:
            return mover, game.key(state)

    def _ask(self, state: Any) -> Replies:
        began = time.perf_counter()
        try:
            if self.is_known:
                return self._once(state, None)
            shares: dict[int, float] = {}
            for seed in range(self._asks):
                for action, share in self._once(state, seed):
                    shares[action] = shares.get(action, 0.0) + share / self._asks
            self.varies = self.varies or len(shares) > 1
            return sorted(shares.items())
        except Exception as error:  # whatever somebody's policy raises: the match charges it for that
            self.failed += 1
            self.failure = self.failure or f"{type(error).__name__}: {error}"
            actions = self._game.legal_actions(state)
            return [(action, 1 / len(actions)) for action in actions]
        finally:
            self.seconds += time.perf_counter() - began
