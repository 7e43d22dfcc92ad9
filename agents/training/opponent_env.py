"""One seat of a game as a Gymnasium environment: agents play the others."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from zermelo.agents.agent import Agent
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import require_env
from zermelo.agents.training.schedules import Ladder, Mix, OpponentSchedule, SelfPlay, agent_of
from zermelo.envs.adapters.foretold import WatchedPayments
from zermelo.envs.errors import IllegalActionError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.masks import mask_of
from zermelo.envs.live.wrappers import game_name, innermost, is_aec
from zermelo.envs.registration.make import make
from zermelo.envs.support.calls import checked_call

ALTERNATE: Final = "alternate"
RANDOM: Final = "random"
_SEEDS: Final = 2**31


@checked_call
class OpponentEnv(gymnasium.Env[Any, Any]):
    """One seat of an AEC environment, as a single player sees it.

    Observations have ``observation`` and ``action_mask``; ``info`` has ``action_mask``, ``seat`` (the learner's)
    and ``opponents`` (their names, by seat). A reward is what the seat earned since its last action, whoever
    moved. An illegal action ends the game for the learner, and the environment never sees it. ``reset(seed=...)``
    decides everything that follows: seat, opponents, their random numbers and the environment's.

    Args:
        env: A name that ``make`` takes, a live AEC environment, which is then owned, or a function that makes one.
        opponent: One or more of what ``agent_of`` takes (specs, agents, policies, models), drawn with equal
            probability, or a schedule.
        seat: The learner's number or name, ``"alternate"`` or ``"random"``.
        observation: ``"dict"`` for observation and mask, ``"array"`` for the observation alone.
        illegal_reward: The reward of an illegal action.
        render_mode: The environment's.

    Attributes:
        env, schedule, learner: The AEC environment, what draws opponents, and the learner's seat in this game.

    Raises:
        InvalidSettingError: A setting has a value it cannot have, or an opponent does not play.
        UnsupportedGameError: It is no AEC environment, or has spaces that differ from seat to seat.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012 - Gymnasium's own, of the instance

    def __init__(
        self,
        env: Any,
        opponent: Any = "random",
        *,
        seat: int | str = ALTERNATE,
        observation: str = "dict",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
    ) -> None:
        self.env = _made(env, render_mode)
        self.schedule: OpponentSchedule = opponent if isinstance(opponent, OpponentSchedule) else Mix(opponent)
        self.render_mode = render_mode
        self.seats: list[Any] = list(self.env.possible_agents)
        self._seat = self._checked_seat(seat)
        if observation not in ("dict", "array"):
            raise InvalidSettingError(f"observation must be 'dict' or 'array', not {observation!r}")
        self._as_dict, self._illegal_reward = observation == "dict", float(illegal_reward)
        self.action_space = self._space(self.env.action_space)
        self.observation_space = self._seen_space()
        self.learner: Any = self.seats[0]
        self._turn = -1
        self._agents: dict[tuple[str, Any], Agent] = {}
        self._unprepared: list[Agent] = []
        self._unchecked: list[tuple[str, Agent]] = []
        self._playing: dict[Any, tuple[str, Agent]] = {}
        self._payments: WatchedPayments
        self._over = True
        self._mask = np.ones(self._size, np.bool_)
        if isinstance(self.schedule, Mix | Ladder | SelfPlay):  # others are checked when they are drawn
            for name, known in self.schedule.opponents:
                self._agent(name, known, self.seats[-1])
            self._check_new()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts a game, and lets the others move until it is the learner's turn.

        ``seed`` decides all that is drawn from now on; ``options={"seat": ...}`` sets the seat for this game only.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._turn = -1
        given = dict(options or {})
        rule = self._checked_seat(given.pop("seat", self._seat))
        if given:
            raise InvalidSettingError(f"the option is 'seat', not {', '.join(map(repr, given))}")
        for _ in range(100):
            self._begin(rule)
            if not self._over:
                return self._look(), self._info()
        raise UnsupportedGameError(
            f"{game_name(self.env)}: 100 games in a row ended before {self.learner} had anything to decide"
        )

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The learner's action, and the others' answers to it."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over, or has not begun: call reset()")
        if not _is_legal(action, self._mask, self.action_space):
            self._over = True
            self._tell(0.0)
            return self._look(), self._illegal_reward, True, False, {**self._info(), "illegal_action": action}
        before = self._paid()
        self._payments.step(action)
        self._others_move()
        terminated, truncated = self._ends()
        if self._over:
            self._tell(self._score())
        return self._look(), self._paid() - before, terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions, as sb3-contrib asks for them."""
        return self._mask.copy()

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        """Closes the environment, and what opponents have open."""
        for agent in self._agents.values():
            if callable(close := getattr(agent, "close", None)):
                close()
        self.env.close()

    def _begin(self, rule: int | str) -> None:
        seeds = [int(number) for number in self.np_random.integers(_SEEDS, size=1 + len(self.seats))]
        self._turn += 1
        place = int(self.np_random.integers(len(self.seats))) if rule == RANDOM else self._turn % len(self.seats)
        if isinstance(rule, int):
            place = rule
        self.learner = self.seats[place]
        self._playing = {}
        for seat, seed in zip(self.seats, seeds[1:], strict=True):
            if seat != self.learner:
                name, opponent = self.schedule.draw(self.np_random)
                agent = self._agent(name, opponent, seat)
                agent.reset(seed)
                self._playing[seat] = name, agent
        self._over = False
        self.env.reset(seed=seeds[0])
        self._inner = innermost(self.env)
        self._check_new()
        while self._unprepared:  # what their searches need is compiled before anybody's clock starts
            if isinstance(agent := self._unprepared.pop(), SearchAgent):
                agent.prepare(self.env)
        self._payments = WatchedPayments(self.env)
        self._payments.compares = any(isinstance(agent, SearchAgent) for _, agent in self._playing.values())
        self._others_move()

    def _agent(self, name: str, opponent: Any, seat: Any) -> Agent:
        key = name, seat if isinstance(opponent, str) else None
        if key not in self._agents:
            self._agents[key] = agent_of(opponent, name)
            self._unprepared.append(self._agents[key])
            self._unchecked.append((name, self._agents[key]))
        return self._agents[key]

    def _check_new(self) -> None:
        """Refuses opponents that cannot play here, before the first game with them."""
        while self._unchecked:
            name, agent = self._unchecked.pop()
            if isinstance(agent, ConfiguredAgent):
                try:
                    agent.check_fit(self.env)
                except (UnsupportedGameError, InvalidSettingError) as error:
                    kind = UnsupportedGameError if isinstance(error, UnsupportedGameError) else InvalidSettingError
                    raise kind(f"the opponent {name} cannot play here: {error}") from error

    def _others_move(self) -> None:
        inner, learner = self._inner, self.learner
        while True:
            if not inner.agents or self._is_done(learner) or all(map(self._is_done, inner.agents)):
                self._over = True
                return
            seat = inner.agent_selection
            if self._is_done(seat):
                self._payments.step(None)
            elif seat == learner:
                return
            else:
                name, agent = self._playing[seat]
                action = agent.act(self.env)
                mask = mask_of(self.env.observe(seat), inner.infos.get(seat))
                if mask is not None and not _is_legal(action, mask, self.env.action_space(seat)):
                    raise IllegalActionError(
                        f"the opponent {name} played {action!r}, which is not legal for {seat}"
                    )
                self._payments.step(action)

    def _paid(self) -> float:
        return self._payments.totals().get(self.learner, 0.0)

    def _is_done(self, seat: Any) -> bool:
        inner = self._inner
        return bool(inner.terminations.get(seat, True) or inner.truncations.get(seat, True))

    def _ends(self) -> tuple[bool, bool]:
        if not self._over:
            return False, False
        truncated = bool(self._inner.truncations.get(self.learner, False))
        return bool(self._inner.terminations.get(self.learner, False)) or not truncated, truncated

    def _score(self) -> float:
        """The learner's share of the game: 1 if it earned more than every opponent, 0.5 if as much as the best."""
        totals = dict.fromkeys(self.seats, 0.0) | self._payments.totals()
        best = max((total for seat, total in totals.items() if seat != self.learner), default=0.0)
        own = totals[self.learner]
        return 1.0 if own > best else 0.5 if own == best else 0.0

    def _tell(self, score: float) -> None:
        for name, _ in self._playing.values():
            self.schedule.record(name, score)

    def _look(self) -> Any:
        seen = self.env.observe(self.learner)
        mask = None if self._over else mask_of(seen, self._inner.infos.get(self.learner))
        self._mask = np.ones(self._size, np.bool_) if mask is None else np.asarray(mask).astype(np.bool_).ravel()
        if isinstance(seen, Mapping) and set(seen) == {"observation", "action_mask"}:
            seen = seen["observation"]
        space = self._observed
        if isinstance(space, Box):
            seen = np.asarray(seen, dtype=space.dtype).reshape(space.shape)
        return {"observation": seen, "action_mask": self._mask.astype(np.int8)} if self._as_dict else seen

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._mask.astype(np.int8),
            "seat": self.learner,
            "opponents": tuple(name for name, _ in self._playing.values()),
        }

    def _checked_seat(self, seat: Any) -> int | str:
        if seat in (ALTERNATE, RANDOM):
            return str(seat)
        if seat in self.seats:
            return self.seats.index(seat)
        if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < len(self.seats):
            return seat
        named = ", ".join(map(repr, self.seats))
        raise InvalidSettingError(
            f"seat must be 'alternate', 'random', a number below {len(self.seats)} or one of {named}, not {seat!r}"
        )

    def _space(self, of: Any) -> Any:
        seats = [self.seats[self._seat]] if isinstance(self._seat, int) else self.seats
        spaces = [of(seat) for seat in seats]
        if any(space != spaces[0] for space in spaces):
            raise UnsupportedGameError(
                f"in {game_name(self.env)} spaces differ from seat to seat: give the learner one of them (seat=0)"
            )
        return spaces[0]

    def _seen_space(self) -> Any:
        if not isinstance(self.action_space, Discrete):
            raise UnsupportedGameError(
                f"the action space of {game_name(self.env)} is {self.action_space}: OpponentEnv needs Discrete"
            )
        space = self._space(self.env.observation_space)
        if isinstance(space, Dict) and set(space.spaces) == {"observation", "action_mask"}:
            space = space["observation"]
        self._observed = space
        self._size = int(self.action_space.n)
        mask = Box(0, 1, (self._size,), np.int8)
        return Dict({"observation": space, "action_mask": mask}) if self._as_dict else space


def _made(env: Any, render_mode: str | None) -> Any:
    how = {} if render_mode is None else {"render_mode": render_mode}
    require_env(env)
    if isinstance(env, str):
        env = make(env, **how)
    elif isinstance(env, type) or (not is_aec(env) and callable(env)):
        env = env(**how)
    if not is_aec(env):
        raise UnsupportedGameError(
            f"OpponentEnv plays one seat of an AEC environment of PettingZoo, which {env!r} is not"
        )
    env.reset(seed=0)  # some know their seats and spaces only then
    return env


def _is_legal(action: Any, mask: Any, space: Any) -> bool:
    try:
        place = operator.index(action) - int(space.start)
    except TypeError:
        return False
    return 0 <= place < len(mask) and bool(mask[place])
