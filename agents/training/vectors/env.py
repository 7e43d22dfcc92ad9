"""Many games at once as a Gymnasium vector environment: a step of all is one call of compiled code, in threads."""

from __future__ import annotations

import itertools
from typing import Any, Final, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.settings import check_whole
from zermelo.agents.kernels.layout import ASKED, GOING
from zermelo.agents.training.vectors.games import FEW, GameArrays, Shard, compiled_game, run_parts, split_games
from zermelo.agents.training.vectors.opponents import LONG_WITH_PAST, Opponent, seated, shares_of
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.jit.memory import load_state
from zermelo.envs.rules.history import has_history
from zermelo.envs.support.calls import checked_call

_MODES: Final = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
_SEATS: Final = {"alternate": -1, "random": -2}
_ALL_SEATS: Final = -3
_LONG: Final = 1 << 40  # moves after which a game is truncated by default, where a move takes no memory


class _Block(NamedTuple):
    first: int
    last: int
    shards: list[Shard]
    opponents: list[Opponent]


@checked_call
class RulesVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many games of the same rules, as one Gymnasium vector environment.

    Observations are as the AEC environment's, with an axis for the games before them; ``infos`` has
    ``"action_mask"`` of shape (games, actions), ``"seat"`` (the learner's), ``"to_move"`` and, after a step,
    ``"rewards"`` of shape (games, seats) and ``"illegal_action"``. All are the caller's own arrays; the masks in
    the observation and in ``infos`` are the same one.

    Args:
        env: A name that ``make`` takes, such as ``"zermelo/ConnectFour-v0"``, rules, or an environment.
        num_envs: How many games.
        opponent: ``"random"``, ``"greedy"``, ``"alphabeta(depth=...)"``, ``"minimax(depth=...)"``,
            ``"expectiminimax(depth=...)"`` or ``"mcts(simulations=...)"``, or a list of them, which share the
            games; None: the learner plays all seats, and a step's reward is that of the player who acted.
        seat: The learner's: a number, ``"alternate"`` or ``"random"``.
        observation: ``"dict"`` for observation and mask, ``"array"`` for the observation alone.
        autoreset: When a finished game begins again: in the ``"next_step"``, whose action is ignored, or in the
            ``"same_step"``, with the last observation in ``infos["final_obs"]``.
        max_moves: Moves after which a game is truncated; None for no limit, or 2,000 where rules know their past.
        illegal_reward: The reward of an illegal action, which ends the game.
        threads: Threads that share the games; by default as many as processors. Results do not depend on it.

    Raises:
        UnsupportedGameError: The environment has no rules that compile, or one seat and an opponent is given.
        InvalidSettingError: A setting has a value it cannot have.
    """

    def __init__(
        self,
        env: Any,
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: int | str = "alternate",
        observation: str = "dict",
        autoreset: str = "next_step",
        max_moves: int | None = None,
        illegal_reward: float = -1.0,
        threads: int | None = None,
    ) -> None:
        check_whole("num_envs", num_envs, lower=1)
        if max_moves is not None:
            check_whole("max_moves", max_moves, lower=1)
        if autoreset not in _MODES:
            raise InvalidSettingError(f"autoreset must be one of {', '.join(_MODES)}, not {autoreset!r}")
        if observation not in ("dict", "array"):
            raise InvalidSettingError(f"observation must be 'dict' or 'array', not {observation!r}")
        self.game = compiled_game(env)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": _MODES[autoreset]}
        self._as_dict, self._plays_all = observation == "dict", opponent is None
        longest = max_moves or (LONG_WITH_PAST if has_history(self.game.rules) else _LONG)
        self._games = GameArrays(
            self.game,
            num_envs,
            longest,
            seat_rule=_ALL_SEATS if opponent is None else self._seat_rule(seat),
            same_step=autoreset == "same_step",
            illegal_reward=float(illegal_reward),
        )
        self._of = self._games.arrays
        self._spaces()
        given = list(opponent) if isinstance(opponent, list | tuple) else [opponent]
        if not given or len(given) > num_envs:
            raise InvalidSettingError(f"give 1 to {num_envs} opponents, one a game at most, not {len(given)}")
        from zermelo.agents.training.vectors.kernel import play

        shares = (shares_of(each, self.game, *own) for each, *own in split_games(given, 0, num_envs))
        self._blocks = [
            _Block(first, last, *seated(self._games, self.game, each or "random", last - first, threads, play))
            for each, first, last in itertools.chain.from_iterable(shares)
        ]
        self._is_reset = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins all games anew; ``seed`` is one for all, which gives each game another one, or a list of them."""
        if not self._is_reset and seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._seed(seed)
        self._is_reset = True
        self._run(anew=1)
        masks = self._of["masks"].copy()
        return self._seen(self._of["observations"], masks), self._infos(masks)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes an action for each game: integers of shape (games,)."""
        if not self._is_reset:
            raise gymnasium.error.ResetNeeded("the games have not begun: call reset()")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise InvalidSettingError(
                f"actions must be {self.num_envs} integers, one for each game, not {given.dtype} of shape "
                f"{given.shape}"
            )
        arrays = self._of
        arrays["actions"][:] = given
        seats = arrays["movers"].copy() if self._plays_all else arrays["seats"].copy()
        self._run(anew=0)
        rewards = arrays["rewards"]
        own = rewards[np.arange(self.num_envs), np.maximum(seats, 0)]
        masks = arrays["masks"].copy()
        infos = self._infos(masks)
        infos["rewards"] = rewards.copy()
        infos["illegal_action"] = arrays["illegal"].astype(bool)
        terminated, truncated = arrays["terminated"].astype(bool), arrays["truncated"].astype(bool)
        if self._games.numbers["same_step"] and (over := terminated | truncated).any():
            infos["final_obs"] = self._seen(arrays["final"], np.zeros_like(masks))
            infos["_final_obs"] = over
        return self._seen(arrays["observations"], masks), own, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        return self._of["masks"].astype(bool)

    def states(self) -> list[Any]:
        """The states of all games, as the rules have them, say to search them; without what was before."""
        like = self.game.rules.initial_state()
        return [load_state(like, words.ctypes.data) for words in self._of["states"]]

    def _spaces(self) -> None:
        seen, size = self._games.space, int(self._games.numbers["choices"])
        mask = Box(0, 1, (size,), np.int8)
        space = Dict({"observation": seen, "action_mask": mask}) if self._as_dict else seen
        self.single_action_space, self.single_observation_space = Discrete(size), space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _seat_rule(self, seat: int | str) -> int:
        seats = self.game.traits.seats
        if seats < 2:
            raise UnsupportedGameError(f"{self.game.traits.name} has one seat: say opponent=None")
        if isinstance(seat, str) and seat in _SEATS:
            return _SEATS[seat]
        if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < seats:
            return seat
        raise InvalidSettingError(f"seat must be 'alternate', 'random' or a number below {seats}, not {seat!r}")

    def _run(self, anew: int) -> None:
        parts = []
        for block in self._blocks:
            shards = block.shards if block.last - block.first >= FEW else block.shards[:1]
            parts += split_games(shards, block.first, block.last)
        run_parts(parts, self.game.initial_state(), anew)
        for shard, _, _ in parts:
            if shard.search.stop not in (GOING, ASKED) and not shard.record.simulations:
                raise GameTooLongError(self.game, shard.search.deepest)

    def _seed(self, seed: int | list[int | None] | None) -> None:
        if seed is None:
            return
        count, random, episodes = self.num_envs, self._of["random"], self._of["episodes"]
        if isinstance(seed, int | np.integer):
            random[:] = np.random.SeedSequence(int(seed)).generate_state(count, np.uint64) >> np.uint64(2)
            episodes[:] = 0
            return
        if len(seed) != count:
            raise InvalidSettingError(f"give one seed, or {count}, not {len(seed)}")
        for number, own in enumerate(seed):
            if own is not None:
                random[number] = int(np.random.SeedSequence(own).generate_state(1, np.uint64)[0]) >> 2
                episodes[number] = 0

    def _seen(self, written: NDArray[Any], masks: NDArray[np.int8]) -> Any:
        space = self._games.space
        observations = written.reshape(-1, *space.shape).astype(space.dtype)
        return {"observation": observations, "action_mask": masks} if self._as_dict else observations

    def _infos(self, masks: NDArray[np.int8]) -> dict[str, Any]:
        arrays = self._of
        return {
            "action_mask": masks,
            "seat": np.where(arrays["seats"] < 0, arrays["movers"], arrays["seats"]),
            "to_move": arrays["movers"].copy(),
        }


make_vec = RulesVectorEnv
"""Makes many games of an environment with compiled rules."""
