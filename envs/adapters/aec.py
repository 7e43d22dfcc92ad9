"""Any AEC environment as a game whose states are copies of it; dead steps (``None``) are played at once.

Utilities are what players are paid: what ``last()`` gives an agent at its turns, and what waits for it there
(``_cumulative_rewards``); ``rewards`` where that never pays. They begin at zero where a live environment stands;
if its game is over, they are the rewards of its last step.

Chance is declared (``zermelo.envs.traits.declared``) or sampled: before every step the copy's generators are
replaced by fresh ones, so that the environment's own next draw is never seen. Agents who move at the same time,
though they are asked in turn, are all movers of a round, which ``joint_result`` plays from its start.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from zermelo.envs.adapters.actions import codec_for, space_of
from zermelo.envs.adapters.adapting import adapt
from zermelo.envs.adapters.copied_state import CopiedState
from zermelo.envs.adapters.copies import CopiedGame
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import OutsideGenerators, replace_generators
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import (
    EnvFailedError,
    GameOverError,
    IllegalActionError,
    UnsupportedGameError,
    ZermeloError,
    require_actions_of,
)
from zermelo.envs.game import CHANCE, Information, Traits
from zermelo.envs.live.masks import shown_mask, writes_own_last
from zermelo.envs.live.wrappers import innermost, mute_env, require_reset, seat_agents, thin
from zermelo.envs.traits.declared import checked_outcomes, declared_traits, declares_chance
from zermelo.envs.traits.known_classes import known_class
from zermelo.envs.traits.merging import AdaptedGame
from zermelo.envs.traits.observability import differences

_CHECKED_STEPS: Final = 64
"""Steps without an outcome to draw that are checked in a game of declared chance."""
_SEEDS: Final = 8


class AECGame(CopiedGame):
    """The game of an AEC environment; see the module's text."""

    def __init__(
        self, env: Any, traits: Traits, *, outside: OutsideGenerators | None = None, seed: int = 0
    ) -> None:
        require_reset(env)
        raw = innermost(env)
        self.agents = seat_agents(raw)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.agents)}
        self._fast_actions = known_class(raw).legal_actions
        self._declared = declares_chance(raw)
        self._unchecked = _CHECKED_STEPS
        self._zeros = (0.0,) * len(self.agents)
        self._nothing = dict.fromkeys(self.agents, 0.0)
        self._asks_last = writes_own_last(raw)
        self.pays_by_rewards = self._declared or getattr(raw, "_cumulative_rewards", None) is None
        super().__init__(raw, lambda: self._quiet_copy(raw), traits, outside, seed)
        is_round = self._hidden is not None and self._hidden.round_start is not None
        if self._is_known or is_round:  # whose rewards are paid, at once or with the others' of the round
            self.pays_by_rewards = True

    def snapshot(self, env: Any) -> CopiedState:
        """The position of a live environment now; ``None`` steps of dead agents are played in the copy."""
        require_reset(env)
        raw = self._position(innermost(env), self._quiet_copy)
        replace_generators(raw, self._generator)
        with self._blame("snapshot"):
            state = self._arrive(raw, self._zeros)
            if state.over:
                paid = self._added(self._zeros, raw.rewards)
                state.totals = paid if any(paid) else state.totals
                return state
        return self._from_here(state)

    def _from_here(self, state: CopiedState) -> CopiedState:
        """The state with nothing paid yet: what waits for an agent was paid before."""
        state.received = tuple(given - total for given, total in zip(state.received, state.totals, strict=True))
        state.before = state.totals = self._zeros
        return state

    def initial_state(self, seed: int = 0) -> CopiedState:
        env, _ = self._reset(seed)
        with self._blame("reset"):
            return self._from_here(self._arrive(env, self._zeros))

    def _quiet_copy(self, raw: Any) -> Any:
        """A copy that draws nothing on the screen and stops at declared chance."""
        env = mute_env(thin(clone_env(raw)))
        if self._declared:
            env.defer_chance = True
        return env

    def _find_actions(self, state: CopiedState) -> tuple[int, ...]:
        if self._fast_actions is None:
            return self._masked_actions(state, state.mover)
        return self._some(self._fast_actions(state.env), self.agents[state.mover])

    def _masked_actions(self, state: CopiedState, seat: int) -> tuple[int, ...]:
        """The actions that a seat's mask allows; without a mask, its whole action space."""
        agent = self.agents[seat]
        observation, info = self._look(state, seat)
        codec = self._codec_of(state) if seat == state.mover else self._codec(state, seat)
        mask = shown_mask(observation, info, codec, state.env)
        return self._some(codec.all_actions() if mask is None else codec.masked(mask), agent)

    def _some(self, actions: tuple[int, ...], agent: Any) -> tuple[int, ...]:
        if not actions:
            raise GameOverError(
                f"{self._name} is not over, but the action mask of {agent!r}, who is to move, allows no action"
            )
        return actions

    def _space(self, state: CopiedState, seat: int) -> Any:
        return space_of(state.env, self.agents[seat])

    def _owner(self, seat: int) -> str:
        return f"agent {self.agents[seat]!r} in {self._name}"

    def _whose(self, state: CopiedState) -> str:
        return f"for {self.agents[state.mover]!r} in {self._name}"

    def _hint(self, state: CopiedState) -> str:
        if state.actions is None or len(state.actions) < self._codec_of(state).size:
            return ""
        return "; if that action is illegal there, an action_mask in the observation or in infos must say so"

    def _played(
        self, state: CopiedState, action: int, generator: np.random.Generator | None, env: Any
    ) -> CopiedState:
        after = super()._played(state, action, generator, env)
        is_fresh_copy = env is None and generator is None  # else the state before is gone, or draws are wanted
        if self._declared and self._unchecked and is_fresh_copy and after.mover != CHANCE and not self._is_known:
            self._unchecked -= 1
            self._require_deferred(state, action, after)
        return after

    def _require_deferred(self, state: CopiedState, action: int, after: CopiedState) -> None:
        """Refuses a step that lets chance decide though its chance is declared; draws without effect are none."""
        if not self.drew(state, after):
            return
        before = replace(state, watch=None)
        if any(differences(self, after, self.probe(before, action, seed)) for seed in range(_SEEDS)):
            shown = self._codec_of(state).to_env(action)
            raise UnsupportedGameError(
                f"{self._name} declares its chance, but what its step({shown!r}) does still depends on a random "
                "number: where defer_chance is set, step must leave the draw to apply_chance"
            )

    def _after(self, state: CopiedState, env: Any, returned: Any) -> CopiedState:
        return self._arrive(env, self._received(state))

    def _received(self, state: CopiedState) -> tuple[float, ...]:
        """The rewards that seats have been given once the mover has seen its own."""
        totals, received, mover = state.totals, state.received, state.mover
        if self.pays_by_rewards:
            return totals
        if totals[mover] == received[mover]:
            return received
        return (*received[:mover], totals[mover], *received[mover + 1 :])

    def _added(self, totals: tuple[float, ...], paid: Mapping[Any, Any]) -> tuple[float, ...]:
        try:
            if paid == self._nothing:  # as after most steps
                return totals
            pairs = zip(totals, self.agents, strict=True)
            added = tuple([total + float(paid.get(agent, 0.0)) for total, agent in pairs])
        except (TypeError, ValueError):
            raise UnsupportedGameError(
                f"a reward of {self._name} must be one number, not as in {dict(paid)!r}: wrap the environment so "
                "that each agent is paid a number"
            ) from None
        if not math.isfinite(sum(added)):
            raise UnsupportedGameError(
                f"a reward of {self._name} must be a finite number, not as in {dict(paid)!r}: pay a number that "
                "is large enough instead, or mask actions that are not allowed"
            )
        return added

    def _arrive(self, env: Any, received: tuple[float, ...]) -> CopiedState:
        """The state of an environment that was just stepped: reads rewards, then plays the dead steps."""
        totals = self._added(received, env.rewards if self.pays_by_rewards else env._cumulative_rewards)
        if self._declared:
            outcomes = tuple(env.chance_outcomes())
            if outcomes:
                checked = checked_outcomes(outcomes, self._name)
                return CopiedState(env, totals, CHANCE, before=received, outcomes=checked, received=received)
        for steps in range(len(self.agents) + 1):
            agents = env.agents
            if not agents:
                return CopiedState(env, totals, 0, True, totals, received=received)
            terminations, truncations = env.terminations, env.truncations
            agent = env.agent_selection
            if not (terminations.get(agent) or truncations.get(agent)):
                if steps and not self.pays_by_rewards:  # what dead steps say of rewards does not count
                    waiting = self._added(self._zeros, env._cumulative_rewards)
                    received = tuple(total - waits for total, waits in zip(totals, waiting, strict=True))
                seat = self._seat(agent, agents)
                state = CopiedState(env, totals, seat, False, totals, received=received)
                return self._asked(state) if self._asks_last else state
            if all(terminations.get(a) or truncations.get(a) for a in agents):
                return CopiedState(env, totals, self._seat_of.get(agent, 0), True, totals, received=received)
            env.step(None)
        raise EnvFailedError(
            f"{self._name} does not go on: agent {env.agent_selection!r} is dead and stays selected after "
            "step(None)"
        )

    def _asked(self, state: CopiedState) -> CopiedState:
        """The state once ``last()`` has told the player to move what it sees and what it was paid."""
        state.seen, paid, *_, state.info = state.env.last()
        if not self.pays_by_rewards:
            mover = state.mover
            total = state.received[mover] + self._added(self._zeros, {self.agents[mover]: paid})[mover]
            state.before = state.totals = (*state.totals[:mover], total, *state.totals[mover + 1 :])
        return state

    def _seat(self, agent: Any, agents: Sequence[Any]) -> int:
        seat = self._seat_of.get(agent)
        if seat is None:
            raise UnsupportedGameError(
                f"agent {agent!r} of {self._name} is not among the possible agents {list(self.agents)!r}: search "
                "needs a fixed set of seats"
            )
        if agent not in agents:
            raise EnvFailedError(f"{self._name} selects agent {agent!r}, which is not among its agents {agents!r}")
        return seat

    def _apply_outcome(self, state: CopiedState, index: int, env: Any = None) -> CopiedState:
        outcomes = state.outcomes
        if not 0 <= index < len(outcomes):
            raise IllegalActionError(f"{index!r} is not a chance outcome: there are {len(outcomes)}, from 0")
        env = self._copy(state.env) if env is None else env
        outcome = outcomes[index][0]
        with self._blame(f"apply_chance({outcome!r})"):
            env.apply_chance(outcome)
            return self._arrive(env, state.before)

    def rewards_now(self, state: CopiedState) -> tuple[float, ...]:
        return self._added(self._zeros, state.env.rewards)

    def observation(self, state: CopiedState, seat: int) -> Any:
        seen, _ = self._look(state, seat)
        return seen["observation"] if isinstance(seen, Mapping) and "observation" in seen else seen

    def _look(self, state: CopiedState, seat: int) -> tuple[Any, Any]:
        """The result of ``env.observe``, and the info; the mover is asked only once."""
        env, agent = state.env, self.agents[seat]
        try:
            with OUTPUT_GUARD:
                seen = state.seen if seat == state.mover else None
                if seen is None:
                    seen = env.observe(agent)
                    if seat == state.mover:
                        state.seen = seen
                return seen, env.infos.get(agent) if state.info is None else state.info
        except ZermeloError:
            raise
        except Exception as error:
            raise self._failure(f"observe({agent!r})", error) from error

    def text(self, state: CopiedState) -> str:
        """The position as the environment's own board text, where it keeps a ``board``; else its ``repr``."""
        board = getattr(state.env, "board", None)
        return repr(state) if board is None else str(board)

    def observation_key(self, state: CopiedState, seat: int) -> Hashable:
        try:
            with OUTPUT_GUARD:
                return state_key(state.env.observe(self.agents[seat]))
        except Exception:  # such as an agent that is gone
            return None


class InformedAECGame(AECGame):
    """An AEC environment's game where it is known what seats have seen, and how to deal the rest again."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        hidden: Any = self._hidden  # such games are made only of environments of which it is known
        self._seen_by, self._deal_again = hidden.information_state_key, hidden.resample

    def information_state_key(self, state: CopiedState, seat: int) -> Hashable:
        with self._blame("information_state_key"):
            return state.mover, state.over, self._seen_by(state.env, self.agents[seat])

    def resample(self, state: CopiedState, seat: int, generator: np.random.Generator) -> CopiedState:
        if state.over:
            return state
        env = self._copy(state.env)
        replace_generators(env, generator)
        with self._blame("resample"):
            self._deal_again(env, self.agents[seat], generator)
            outcomes = tuple(env.chance_outcomes()) if state.mover == CHANCE else ()
        dealt = CopiedState(env, state.totals, state.mover, state.over, state.before, received=state.received)
        dealt.outcomes = checked_outcomes(outcomes, self._name) if outcomes else ()
        dealt.watch = None if state.watch is None else state.watch.dealt(dealt)
        if self.information_state_key(dealt, seat) != self.information_state_key(state, seat):
            raise EnvFailedError(f"resample() of {self._name} changed what {self.agents[seat]!r} has seen")
        return dealt


class SimultaneousAECGame(AECGame):
    """An AEC environment's game whose agents move at the same time."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        hidden: Any = self._hidden  # such games are made only of classes of which it is known
        self._rewind, self._hides_more = hidden.round_start, hidden.hides_more

    def movers(self, state: CopiedState) -> Sequence[int]:
        if state.over or state.mover == CHANCE:
            return ()
        env = state.env
        alive = [agent for agent in env.agents if not (env.terminations.get(agent) or env.truncations.get(agent))]
        return [seat for seat, agent in enumerate(self.agents) if agent in alive]

    def actions_of(self, state: CopiedState, seat: int) -> tuple[int, ...]:
        if seat == state.mover:
            return self.legal_actions(state)
        try:
            return self._masked_actions(state, seat)
        except GameOverError:  # masks that allow something only to who is asked
            asked = self._round_start(state)
            while asked.mover != seat:
                asked = self.play_on(asked, self.legal_actions(asked)[0])
            return self.legal_actions(asked)

    def joint_result(
        self, state: CopiedState, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> CopiedState:
        movers = self.movers(state)
        require_actions_of(movers, actions, self._name)
        after = self._round_start(state)
        for _ in movers:
            after = self.play_on(after, actions[after.mover], generator)
        return after

    def _round_start(self, state: CopiedState) -> CopiedState:
        """The state in which nobody of this round has been asked, as a state of its own."""
        env = self._copy(state.env)
        with self._blame("the start of the round"):
            self._rewind(env)
        seat = self._seat(env.agent_selection, env.agents)
        return CopiedState(
            env, state.totals, seat, False, state.before, received=state.received, watch=state.watch
        )

    def hides_more(self) -> bool | None:
        return False if self.traits.information is Information.PERFECT else self._hides_more


class SimultaneousInformedGame(SimultaneousAECGame, InformedAECGame):
    """One of which it is known besides what its agents have seen."""


def deal_unseen(env: Any, generator: np.random.Generator, agents: Sequence[Any] = ()) -> bool:
    """Deals again, in place, what the agent to move has not seen: hands, dice, what has just been chosen unseen.

    ``env`` is a copy, which an agent is to see; ``agents`` stand in the place of the one to move. False where the
    environment declares, or is known, to hide something, and nothing says how to deal it.
    """
    raw = innermost(env)
    known = known_class(raw)
    hidden = known.hidden_of(raw)
    if hidden is None:
        traits = {**known.traits_of(raw), **declared_traits(raw)}
        return bool(traits.get("information") != Information.HIDDEN)
    for agent in agents or [getattr(raw, "agent_selection", None)]:
        hidden.resample(raw, agent, generator)
    return True


def make_game(raw: Any, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    """The game of an environment; see ``as_game.Ecosystem``."""
    agents = seat_agents(raw)
    actions = max(codec_for(raw, agent).size for agent in agents)
    hidden = known_class(raw).hidden_of(raw)
    informed = hidden is not None and hidden.information_state_key is not None
    game: type[AECGame] = InformedAECGame if informed else AECGame
    if hidden is not None and hidden.round_start is not None:
        game = SimultaneousInformedGame if informed else SimultaneousAECGame
    about: dict[str, Any] = {"actions": actions, "deals_again": hidden is not None}
    return adapt(game, raw, given, patience, seats=tuple(map(str, agents)), **about)
