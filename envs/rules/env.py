"""Any rules as an AEC environment.

=============  =================================================================================================
Agents         ``rules.seat_names()``, else ``player_0``, ``player_1``, ...
Actions        ``Discrete``, as many as ``rules.num_actions()``
Observation    a dictionary: ``observation``, what the agent sees from its own side
               (``zermelo.envs.rules.observations``), and ``action_mask``, 1 for each legal action, all
               zero for agents that are not to move
Rewards        zero until the end, then ``rules.utility``
Ends           all agents terminate together; nothing is truncated
State          the bits of every integer of the state, one row of 64 each
Chance         rolled by ``np_random``, which ``reset(seed=...)`` seeds
Rendering      ``ansi`` text, ``rgb_array`` pictures; ``human`` prints the text after every step
=============  =================================================================================================

Copies made by ``copy.deepcopy``, by pickling and by ``clone_env`` keep the game that is being played. Searches do
not step the environment: ``as_game`` takes its rules.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from zermelo.envs.errors import InvalidSettingError, illegal_action
from zermelo.envs.game import CHANCE
from zermelo.envs.pictures.boards import draw, state_text
from zermelo.envs.rules.observations import bit_rows, observation, observation_space
from zermelo.envs.rules.rules_game import RulesGame, parameter_types

RENDER_MODES = ("human", "ansi", "rgb_array")


def env_name(rules_class: type) -> str:
    """The environment's name for a class of rules: ``dots_and_boxes_v0`` for ``DotsAndBoxes``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", rules_class.__name__)
    return f"{words.lower()}_v0"


def _game_of(rules: Any) -> RulesGame:
    """The game of some rules, checked."""
    types: Any = type(rules), parameter_types(rules)
    return _kept_game(rules, types)


@functools.lru_cache(maxsize=256)  # by the parameters, their types and the class
def _kept_game(rules: Any, _types: Any) -> RulesGame:
    return RulesGame(rules)


class RulesEnv(AECEnv[str, Any, Any]):
    """An AEC environment over rules; see the module's text.

    Args:
        rules: The rules, with their parameters.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` or None.
        name: What the environment is called, such as ``kalah_v0``; from the class of the rules if not given.

    Attributes:
        position: The state of the rules now, a tuple of integers; it knows its past, where that matters.
        played: The players' actions since the reset.

    Raises:
        RulesError: The rules break their contract.
        InvalidSettingError: There is no such render mode.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # one a class; instances have their own name in it
        "name": "rules_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, rules: Any, render_mode: str | None = None, name: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PettingZoo has no annotation there
        _kept_game.cache_clear()  # a method may have been edited since
        game = _game_of(rules)
        if render_mode is not None and render_mode not in RENDER_MODES:
            offered = ", ".join(map(repr, RENDER_MODES))
            raise InvalidSettingError(f"render_mode must be one of {offered} or None, not {render_mode!r}")
        self.rules = rules
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "name": name or env_name(type(rules))}  # type: ignore[misc]  # see above
        self.possible_agents = list(game.traits.seat_names)
        size, seen = rules.num_actions(), observation_space(rules)
        self.action_spaces: dict[str, Any] = {agent: Discrete(size) for agent in self.possible_agents}
        self.observation_spaces: dict[str, Any] = {
            agent: Dict({"observation": seen, "action_mask": Box(0, 1, (size,), np.int8)})
            for agent in self.possible_agents
        }
        self.state_space = Box(0, 1, (len(rules.initial_state()), 64), np.int8)
        self.np_random: np.random.Generator | None = None
        if hasattr(rules, "chance_outcomes"):
            self.defer_chance = False

    def observation_space(self, agent: str) -> Any:
        """The space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a new game; a seed starts the stream of random numbers anew. There are no options."""
        agents = self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {} for agent in agents}
        self._skip_agent_selection: Any = None
        self.agent_selection = agents[0]
        self.position = _game_of(self.rules).initial_state()
        self.played: list[int] = []
        if hasattr(self, "defer_chance") and (self.np_random is None or seed is not None):
            self.np_random = np.random.default_rng(seed)
        self._go_on()

    def step(self, action: Any) -> None:
        """Plays an action of ``agent_selection``, and then rolls what chance decides.

        Raises:
            IllegalActionError: The action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        legal = self.legal_actions()
        try:
            chosen = operator.index(action)
        except TypeError:
            chosen = -1
        if chosen not in legal:
            raise illegal_action(action, f"for {agent} in {self.metadata['name']}", legal)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.position = _game_of(self.rules).result(self.position, chosen)
        self.played.append(chosen)
        self._go_on()

    def legal_actions(self) -> list[int]:
        """The legal actions of ``agent_selection``, ascending; none when the game is over."""
        is_over = not self.agents or any(self.terminations.values())
        return [] if is_over else list(_game_of(self.rules).legal_actions(self.position))

    def _go_on(self) -> None:
        """Rolls what chance decides, and says what has come of it."""
        while getattr(self, "defer_chance", True) is False and (outcomes := self.chance_outcomes()):
            numbers, probabilities = zip(*outcomes, strict=True)
            assert self.np_random is not None, "reset made the generator"
            drawn = self.np_random.choice(len(numbers), p=np.array(probabilities) / sum(probabilities))
            self.position = _game_of(self.rules).result(self.position, numbers[int(drawn)])
        self._arrive()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _arrive(self) -> None:
        game, state = _game_of(self.rules), self.position
        if game.is_terminal(state):
            self.rewards = dict(zip(self.possible_agents, game.utility(state), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            after = self.possible_agents.index(self.agent_selection) + 1
            self.agent_selection = self.possible_agents[after % len(self.possible_agents)]
        else:
            seat = game.to_move(state)
            if seat != CHANCE:
                self.agent_selection = self.possible_agents[seat]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of chance with their probabilities; none unless chance is to move."""
        game = _game_of(self.rules)
        if game.is_terminal(self.position) or game.to_move(self.position) != CHANCE:
            return []
        return list(game.chance_outcomes(self.position))

    def apply_chance(self, outcome: int) -> None:
        """Makes one outcome happen."""
        self.position = _game_of(self.rules).result(self.position, outcome)
        self._arrive()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """The observation of an agent, and the mask of its legal actions, zero unless it is to move."""
        space = self.observation_spaces[agent]["observation"]
        seen = observation(self.rules, self.position, self.possible_agents.index(agent))
        mask = np.zeros(self.observation_spaces[agent]["action_mask"].shape, dtype=np.int8)
        if agent == self.agent_selection:
            mask[self.legal_actions()] = 1
        return {"observation": seen.astype(space.dtype, copy=False), "action_mask": mask}

    def state(self) -> npt.NDArray[np.int8]:
        """The bits of every integer of the state, of shape (how many, 64), lowest bit first."""
        return bit_rows(self.position)

    def render(self) -> Any:
        """The position as text (``ansi``) or as a picture (``rgb_array``); ``human`` prints the text."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying any render mode.")
            return None
        if self.render_mode == "rgb_array":
            return draw(self.rules, self.position)
        text = state_text(self.rules, self.position)
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None


raw_env = RulesEnv


def env(rules: Any, render_mode: str | None = None, name: str | None = None) -> Any:
    """``RulesEnv`` in PettingZoo's usual wrappers.

    An illegal action ends the game: its player gets the least utility that there is (-1, where games are just won
    and lost), the others nothing.
    """
    wrapped: Any = RulesEnv(rules, render_mode, name)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, _game_of(rules).traits.utility_bounds[0])
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)
