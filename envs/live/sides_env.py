"""Gymnasium environments whose ``step`` plays several sides in turn, as PettingZoo environments of that game."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from pettingzoo import AECEnv

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.errors import EnvFailedError, InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.live.masks import own_mask, shown_mask
from zermelo.envs.live.sides import plain_side
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, is_gymnasium, layers, of_reset, of_step
from zermelo.envs.support.calls import checked_call

REWARDS: Final = ("mover", "first", "each")
_GAMES, _STEPS, _ENOUGH = 4, 200, 24
"""Games and steps that are played to see who the players are, and steps after which two players are all."""

Mover = str | Callable[[Any], Any]
Reward = str | Callable[[Any, Mapping[str, Any]], Sequence[float]]


@checked_call
def sides(
    env: Any, mover: Mover = "current_player", reward: Reward = "mover", players: Sequence[Any] | None = None
) -> Any:
    """A PettingZoo AEC environment of a Gymnasium environment that plays all sides of a game in turn.

    Its agents, ``player_0``, ``player_1`` and so on, all have the spaces of ``env`` and see what it shows. A mask
    that ``action_masks()`` returns stands in their ``infos``.

    Args:
        env: The environment, or its Gymnasium id.
        mover: Where it says whose move it is: the name of an attribute (``"turn"``, or ``"game.turn"`` of an
            object in it), ``"observation NAME"`` or ``"info NAME"`` of what it shows, or a function of ``env``.
        reward: Whose the reward of a step is: ``"mover"``, of the player who has just moved; ``"first"``, always
            of the first player; in both cases the other of two players gets its negative. ``"each"``: a reward is
            a sequence with one number for each player, or a mapping by what ``mover`` says; or a function of the
            reward and the info of a step that returns such a sequence.
        players: What ``mover`` says for each player, in the order of the agents. By default random play on a copy
            shows it: 0 before 1, 1 before 2, 1 before -1, and of other values the one that moves first.

    Raises:
        UnsupportedGameError: It is no Gymnasium environment.
        InvalidSettingError: It does not say whose move it is there, or there are no two players.
    """
    if isinstance(env, str):
        import gymnasium

        env = gymnasium.make(env)
    if not is_gymnasium(env):
        raise UnsupportedGameError(f"sides takes a Gymnasium environment, not {type(env).__name__}")
    if not callable(reward) and reward not in REWARDS:
        raise InvalidSettingError(f"reward must be one of {', '.join(REWARDS)} or a function, not {reward!r}")
    if not callable(mover) and not isinstance(mover, str):
        raise InvalidSettingError(f"mover must be a name such as 'current_player' or a function, not {mover!r}")
    found, trouble = _players_of(env, mover) if players is None else (list(players), "")
    if players is None and len(found) < 2:
        raise InvalidSettingError(
            f"{_about(mover)} of {game_name(env)} was {''.join(map(repr, found))} in all random play{trouble}: "
            "name what says whose move it is, or all that it says, as in players=('white', 'black')"
        )
    if len(found) < 2 or len(set(map(repr, found))) < len(found):
        raise InvalidSettingError(f"players must be two values or more, each another one, not {players!r}")
    if len(found) > 2 and reward in ("mover", "first"):
        raise InvalidSettingError(
            f"{game_name(env)} has {len(found)} players: with reward={reward!r} nobody knows what the others get; "
            "use reward='each', or a function that returns one number for each"
        )
    return SidesEnv(env, mover, reward, found)


class SidesEnv(AECEnv[str, Any, Any]):
    """The environment that ``sides`` returns.

    Attributes:
        env: The Gymnasium environment.
        players: What it says when an agent is to move, in the order of the agents.
    """

    def __init__(self, env: Any, mover: Mover, reward: Reward, players: Sequence[Any]) -> None:
        self.env, self.players = env, tuple(map(_comparable, players))
        self._mover, self._reward = mover, reward
        modes = (getattr(env, "metadata", None) or {}).get("render_modes", [])
        self.metadata = {"name": game_name(env), "render_modes": modes, "is_parallelizable": False}
        if not callable(reward) and reward != "each":
            self.zermelo_traits = {"reward_sum": "zero_sum"}
        self.possible_agents = [f"player_{number}" for number in range(len(self.players))]
        self.agents: list[str] = []
        self.render_mode = getattr(env, "render_mode", None)
        self._observation: Any = None

    def observation_space(self, agent: str) -> Any:
        return self.env.observation_space

    def action_space(self, agent: str) -> Any:
        return self.env.action_space

    def observe(self, agent: str) -> Any:
        return self._observation

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._observation, info = of_reset(self.env.reset(seed=seed, options=options))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._ask(info)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._observation, reward, terminated, truncated, info = of_step(self.env.step(action))
        self.rewards = dict(zip(self.agents, self._paid(reward, info, self.agents.index(agent)), strict=True))
        self._accumulate_rewards()
        if terminated or truncated:
            self.terminations = dict.fromkeys(self.agents, bool(terminated))
            self.truncations = dict.fromkeys(self.agents, bool(truncated))
            self.infos = {agent: dict(info) for agent in self.agents}
            self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        else:
            self._ask(info)

    def _ask(self, info: Mapping[str, Any]) -> None:
        """Selects the agent to move, and gives it the info, with its mask."""
        said = _said(self.env, self._mover, self._observation, info)
        if said not in self.players:
            raise EnvFailedError(
                f"{_about(self._mover)} of {game_name(self.env)} is {said!r}, and its players are "
                f"{', '.join(map(repr, self.players))}: name them all, as in sides(env, players=(1, 2))"
            )
        self.agent_selection = self.possible_agents[self.players.index(said)]
        self.infos = {agent: dict(info) for agent in self.agents}
        mask = own_mask(self.env)
        if mask is not None:
            self.infos[self.agent_selection]["action_mask"] = np.asarray(mask, np.int8)

    def _paid(self, reward: Any, info: Mapping[str, Any], moved: int) -> list[float]:
        if callable(self._reward):
            paid: Any = self._reward(reward, info)
        elif self._reward == "each":
            paid = [reward[player] for player in self.players] if isinstance(reward, Mapping) else reward
        else:
            own = float(reward)
            paid = [own, -own] if moved == 0 or self._reward == "first" else [-own, own]
        if np.ndim(paid) != 1 or len(paid) != len(self.players):
            raise EnvFailedError(
                f"a reward of {game_name(self.env)} must have one number for each of {len(self.players)} players, "
                f"not {paid!r}: say with reward= in sides(env, ...) whose it is"
            )
        return [float(one) for one in paid]

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()


def _about(mover: Mover) -> str:
    return repr(mover) if isinstance(mover, str) else f"{getattr(mover, '__name__', 'mover')}(env)"


def _comparable(value: Any) -> Any:
    plain = plain_side(value)
    return value if plain is None else plain


def _said(env: Any, mover: Mover, observation: Any, info: Mapping[str, Any]) -> Any:
    """Returns what an environment says of whose move it is."""
    if callable(mover):
        return _comparable(mover(env))
    where, _, name = mover.rpartition(" ")
    shown = {"observation": (observation,), "info": (info,)}.get(where, (info, observation))
    if where not in ("observation", "info"):
        first, *rest = mover.split(".")
        for layer in layers(env):
            if hasattr(layer, "__dict__") and hasattr(layer, first):
                value = getattr(layer, first)
                for part in rest:
                    value = getattr(value, part)
                return _comparable(value() if callable(value) else value)
    for holder in shown:
        if isinstance(holder, Mapping) and name in holder:
            return _comparable(holder[name])
    raise InvalidSettingError(
        f"{game_name(env)} has no {mover!r}, neither as an attribute nor in what it shows: name what says whose "
        "move it is, as in sides(env, mover='turn')"
    )


def _players_of(env: Any, mover: Mover) -> tuple[list[Any], str]:
    """What ``mover`` says in random play on a copy, in the order of the agents; and what went wrong there."""
    copy, seen, trouble = clone_env(env), dict[str, Any](), ""
    with OUTPUT_GUARD, global_random_guard():
        for game in range(_GAMES):
            try:
                for step, said in enumerate(_played(copy, mover, game)):
                    seen.setdefault(repr(said), said)
                    if step >= _ENOUGH and len(seen) > 1:
                        return _in_order(list(seen.values())), ""
            except ZermeloError:
                raise
            except Exception as error:  # whatever an action raises that is illegal and masked nowhere
                trouble = f", where an action raised {type(error).__name__}: {error}"
    return _in_order(list(seen.values())), trouble


def _in_order(players: list[Any]) -> list[Any]:
    if all(isinstance(one, numbers.Integral) and not isinstance(one, bool) for one in players):
        return sorted(players, key=lambda one: (abs(one), -one))
    return players


def _played(env: Any, mover: Mover, seed: int) -> Iterator[Any]:
    generator, codec = np.random.default_rng(seed), ActionCodec(env.action_space, game_name(env))
    observation, info = of_reset(env.reset(seed=seed))
    for _ in range(_STEPS):
        yield _said(env, mover, observation, info)
        mask = own_mask(env)
        mask = shown_mask(observation, info, codec) if mask is None else mask
        actions = codec.all_actions() if mask is None else codec.masked(mask)
        action = codec.to_env(actions[int(generator.integers(len(actions)))])
        observation, _, terminated, truncated, info = of_step(env.step(action))
        if terminated or truncated:
            return
