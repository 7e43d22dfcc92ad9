"""The driver's view of a live environment: whose turn it is, what is legal, what was earned, whether it is over.

Only the driver steps the environment. Those of Gymnasium are driven as AEC environments of one player.

- Rewards are what ``last()`` gives agents at their turns, and what waits for them there at the end
  (``zermelo.envs.live.payments``).
- Dead agents are stepped with ``None`` when their turn comes, and what the environment then says of rewards is
  not counted.
- Whatever the environment raises becomes an ``EnvironmentFailureError``: it is nobody's fault.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from zermelo.agents.policies.observation import Observation, observed
from zermelo.envs.adapters.actions import space_of
from zermelo.envs.adapters.foretold import Foretold, WatchedPayments
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.masks import gym_mask, mask_of
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, innermost, is_aec, is_gymnasium, layers, of_reset, of_step
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.record import EndReason
from zermelo.evaluation.match.text import kept_name, shown

T = TypeVar("T")
_PLAYER: Final = "player"


class EnvDriver:
    """Steps an environment that it has reset; ``seat_names`` are in the order of ``possible_agents``."""

    def __init__(self, env: Any, seed: int) -> None:
        self.env = env
        self._single = _SinglePlayer(env) if is_gymnasium(env) else None
        self._table = self._single or env
        self._call("reset", functools.partial(self._table.reset, seed=seed))
        # The wrappers that only check can be looked through for reading; steps go through them all.
        self._inner = innermost(self._table)
        agents = self._agents = list(getattr(self._table, "possible_agents", None) or self._table.agents)
        self._seat = {agent: seat for seat, agent in enumerate(agents)}
        self.seat_names = tuple(map(kept_name, agents))
        self._payments = self._call("reset", lambda: self._single or WatchedPayments(env))
        self._spaces = {one: self._space(one) for one in agents}
        self._terminated = False
        self._legal: tuple[Any, Any] | None = None

    def compare_with_copies(self) -> None:
        """Compares what comes of each step from now on with what a copy foretells, as searches rest on that."""
        self._payments.compares = True

    @property
    def rewards(self) -> list[float]:
        """What each seat has earned so far."""
        totals = self._payments.totals()
        return [totals.get(agent, 0.0) for agent in self._agents]

    def _space(self, agent: Any) -> Any:
        return self._call("action_space", space_of, self._inner, agent)

    def _call(self, what: str, call: Callable[..., T], *given: Any) -> T:
        try:
            return call(*given)
        except BaseException as error:
            self._fail(what, error)

    def _fail(self, what: str, error: BaseException) -> NoReturn:
        if isinstance(error, EnvironmentFailureError | KeyboardInterrupt):
            raise error
        reason = f"{type(error).__name__}: {error}{place_of(error)}"
        raise EnvironmentFailureError(
            f"the environment {game_name(self.env)} failed in {what}: {reason}"
        ) from error

    def turn(self) -> int | None:
        """Returns the seat to move, once dead agents were stepped; None when the game is over."""
        return self._call("saying whose turn it is", self._turn)

    def _turn(self) -> int | None:
        inner = self._inner
        for _ in range(2 * len(self._agents) + 1):
            if not inner.agents:
                return None
            terminations, truncations = inner.terminations, inner.truncations
            if all(terminations[agent] or truncations[agent] for agent in inner.agents):
                return None
            agent = inner.agent_selection
            if not (terminations[agent] or truncations[agent]):
                return self._seat[agent]
            self._call("the step of a dead agent", self._payments.step, None)
        raise EnvironmentFailureError(
            f"the environment {game_name(self.env)} keeps selecting agents that are already dead"
        )

    def look(self) -> None:
        """Reads what is legal for the seat to move, before its agent is asked."""
        agent = self._inner.agent_selection
        space = self._spaces[agent] = self._space(agent)
        asked = "observe" if self._single is None else "saying what is legal"
        self._legal = (space, _checked_mask(space, self._call(asked, self._mask, agent)))

    def _mask(self, agent: Any) -> Any:
        if self._single is not None:
            # Only a mask that the agent can ask the environment for. One in ``info`` may be mere advice: Taxi's
            # leaves out moves into walls, and Taxi plays them.
            return gym_mask(self.env)
        # Of the outermost layer: PettingZoo's wrapper that ends games at illegal actions then need not ask again.
        return mask_of(self.env.observe(agent), self._inner.infos.get(agent))

    def refusal(self, action: Any) -> str | None:
        """Returns why the action cannot be played, as the end of a sentence, or None if it is legal."""
        if self._legal is None:
            self.look()
        assert self._legal is not None, "it has just been read"
        return _judge(*self._legal, action)

    def step(self, action: Any) -> None:
        """Plays a legal action for the seat to move, through all wrappers, and collects the rewards."""
        self._legal = None
        try:
            self._payments.step(action)
        except BaseException as error:
            self._fail(f"step({shown(action)})", error)
        for agent, reward in self._payments.totals().items():
            if math.isnan(reward):
                raise EnvironmentFailureError(f"the environment paid {agent} rewards that add up to nan")
        self._terminated = self._terminated or any(self._inner.terminations.values())

    def view(self) -> Observation:
        """Returns what the seat to move sees, copied, for an agent that needs no more."""
        agent = self._inner.agent_selection
        seen, info = self._call("observe", lambda: (self._table.observe(agent), self._inner.infos.get(agent)))
        if self._single is not None:
            mask = self._call("saying what is legal", self._mask, agent)
            info = info if mask is None else {"action_mask": mask}
        return observed(str(agent), seen, info, self._spaces[agent])

    def action_space(self) -> Any:
        """Returns the action space of the seat to move."""
        return self._spaces[self._inner.agent_selection]

    def fingerprint(self) -> Any:
        """Returns something cheap that changes if anyone else steps or resets the environment."""
        if self._single is not None:  # Gymnasium itself counts steps only where a time limit needs them
            return [vars(layer).get("_elapsed_steps") for layer in layers(self.env)]
        inner = self._inner
        return (
            inner.agent_selection,
            len(inner.agents),
            tuple(inner.terminations.values()),
            tuple(inner.truncations.values()),
            tuple(inner._cumulative_rewards.values()) if hasattr(inner, "_cumulative_rewards") else (),
        )

    def end_reason(self) -> EndReason:
        """Returns whether the environment terminated the game, for any of its agents, or truncated it."""
        return EndReason.TERMINATED if self._terminated else EndReason.TRUNCATED


class _SinglePlayer:
    """A Gymnasium environment with the methods and attributes of an AEC environment of one player."""

    compares = False

    def __init__(self, env: Any) -> None:
        self._env = env
        self.agents = self.possible_agents = [_PLAYER]
        self.agent_selection = _PLAYER
        self._total = 0.0

    def reset(self, seed: int) -> None:
        self._seen, info = of_reset(self._env.reset(seed=seed))
        self._total = 0.0
        self._say(info, 0.0, False, False)

    def step(self, action: Any) -> None:
        foretold = Foretold.of(self._env, action) if self.compares else None
        returned = self._env.step(action)
        if foretold is not None:
            foretold.compare(self._env, returned)
        self._seen, reward, terminated, truncated, info = of_step(returned)
        self._say(info, reward, terminated, truncated)

    def _say(self, info: Any, reward: Any, terminated: Any, truncated: Any) -> None:
        self.infos = {_PLAYER: info}
        self._total += float(reward)
        self.terminations, self.truncations = {_PLAYER: bool(terminated)}, {_PLAYER: bool(truncated)}

    def totals(self) -> dict[Any, float]:
        return {_PLAYER: self._total}

    def observe(self, agent: str) -> Any:
        return self._seen

    def action_space(self, agent: str) -> Any:
        return self._env.action_space


def drive_env(env: Any, seed: int) -> EnvDriver:
    """Resets the environment with the seed and drives it."""
    if is_gymnasium(env) or is_aec(env):
        return EnvDriver(env, seed)
    raise UnsupportedGameError(
        f"cannot play in {env!r} ({type(env).__name__}): give a name, a function that makes an environment, or a "
        "live AEC or Gymnasium environment (a parallel one through pettingzoo.utils.parallel_to_aec)"
    )


def play_known(driver: EnvDriver, actions: Iterable[Any]) -> tuple[int, str | None] | None:
    """Plays actions that were chosen before, up to the first that cannot be played.

    Returns:
        The place of that one, and why as ``refusal`` says it, or None where the game is over before it; None if
        all were played.
    """
    for place, action in enumerate(actions):
        if driver.turn() is None:
            return place, None
        if (refusal := driver.refusal(action)) is not None:
            return place, refusal
        driver.step(action)
    return None


def exact(action: Any) -> Any:
    """A number or array of a class of the agent's own as what it holds: such a class may compare as it likes."""
    kind = type(action)
    if kind is int:
        return action
    if issubclass(kind, int) and kind is not bool:
        return int.__add__(action, 0)
    if issubclass(kind, float) and not issubclass(kind, np.generic):
        return float.__add__(action, 0.0)
    if issubclass(kind, np.ndarray) and kind is not np.ndarray:
        return np.array(np.ndarray.view(action, np.ndarray))
    return action


_KINDS: Final = {float: "a fraction", str: "text", bool: "True or False", type(None): "None"}


def _judge(space: Any, mask: Any, action: Any) -> str | None:
    """Why ``action`` is not in the space or not allowed by the mask, or None."""
    if type(action) is not int:  # the common case needs no further look
        from gymnasium.spaces import Discrete

        if not isinstance(space, Discrete):
            return _judge_array(space, mask, action)
        if isinstance(action, np.ndarray | np.generic) and action.shape == () and action.dtype.kind in "iu":
            action = int(action)
        elif isinstance(action, bool | np.bool_) or not isinstance(action, int):
            kind = _KINDS.get(type(action), f"of type {type(action).__name__}")
            return f"{shown(action)}, which is {kind}, where an integer is wanted"
    elif not hasattr(space, "n") or not hasattr(space, "start"):
        return _judge_array(space, mask, action)
    start, size = int(space.start), int(space.n)
    if not start <= action < start + size:
        return f"{shown(action)}, which is outside the action space {space}"
    if mask is None or mask[action - start]:
        return None
    legal = [str(index + start) for index in np.flatnonzero(mask)]
    few = legal if len(legal) <= 12 else [*legal[:12], "..."]
    return f"{action}, which is not legal here (legal: {', '.join(few)})"


def _checked_mask(space: Any, mask: Any) -> Any:
    if mask is None:
        return None
    size = getattr(space, "n", None)
    if size is None:
        return mask
    flat = np.array(mask)
    if flat.shape != (int(size),):
        raise EnvironmentFailureError(f"the action mask has {flat.size} entries, but the action space is {space}")
    if not np.count_nonzero(flat):
        raise EnvironmentFailureError("the action mask allows no action, though the game has not ended")
    return flat


def _judge_array(space: Any, mask: Any, action: Any) -> str | None:
    try:
        inside = bool(space.contains(action))
    except BaseException:  # spaces are not written for hostile input: whatever comes, it is no action of theirs
        inside = False
    if not inside:
        return f"{shown(action)}, which is not in the action space {space}"
    if mask is None:
        return None
    codec = ActionCodec(space, "the seat to move")
    if codec.to_index(action) in codec.masked(mask):
        return None
    return f"{shown(action)}, which the action mask forbids"
