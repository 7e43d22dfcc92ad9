"""2048 as a Gymnasium environment of any size: ``gymnasium.make("zermelo/Game2048-v0", rows=4, columns=4)``.

Gymnasium knows the id after ``zermelo.envs.register_envs()``.

============  ==================================================================================================
Action        ``Discrete(4)``: 0 up, 1 right, 2 down, 3 left
Observation   the exponents of two of the tiles, 0 for none, of shape (rows, columns) and type int8
Reward        what the score grows by
Ends          terminates when no move changes anything; never truncated
Illegal       a move that changes nothing leaves everything as it is: no tile comes, the reward is 0
Info          ``action_mask``, 1 for each action that changes something; ``score``
Rendering     ``ansi`` text, ``rgb_array`` pictures
============  ==================================================================================================

The rules are those of ``zermelo.envs.games.Game2048``, which ``as_game`` takes, with exact chances of new tiles.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from zermelo.envs.errors import IllegalActionError, InvalidSettingError
from zermelo.envs.games.twenty_forty_eight import Game2048, Game2048State
from zermelo.envs.pictures.boards import draw, state_text
from zermelo.envs.rules.rules_game import RulesGame


class Game2048Env(gymnasium.Env[npt.NDArray[np.int8], int]):
    """2048, with ``render_mode`` ``"ansi"``, ``"rgb_array"`` or None; see the module's text.

    ``position`` is the state of the ``rules`` now. ``rows * columns`` must be 2 to 72.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # Gymnasium's is no class variable by its type
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(self, rows: int = 4, columns: int = 4, render_mode: str | None = None) -> None:
        if render_mode not in (None, "ansi", "rgb_array"):
            raise InvalidSettingError(f"render_mode must be 'ansi', 'rgb_array' or None, not {render_mode!r}")
        self.rules = Game2048(rows, columns)
        self._game = RulesGame(self.rules)
        self.render_mode = render_mode
        self.action_space: Any = Discrete(4)
        self.observation_space = Box(0, 31, (rows, columns), np.int8)
        self.position: Game2048State = self.rules.initial_state()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Two tiles come to an empty board. There are no options."""
        super().reset(seed=seed)
        self.position = self._with_tiles(self.rules.initial_state())
        return self.rules.tiles(self.position), self._get_info()

    def step(self, action: Any) -> tuple[npt.NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Pushes the tiles to one side; ``IllegalActionError`` if the action is not 0, 1, 2 or 3."""
        if not self.action_space.contains(action):
            raise IllegalActionError(f"{action!r} is no action of 2048: they are 0 up, 1 right, 2 down, 3 left")
        score = self.position.score
        if int(action) in self._game.legal_actions(self.position):
            self.position = self._with_tiles(self.rules.result(self.position, int(action)))
        over = self.rules.is_terminal(self.position)
        gained = float(self.position.score - score)
        return self.rules.tiles(self.position), gained, over, False, self._get_info()

    def action_masks(self) -> npt.NDArray[np.int8]:
        """1 for each action that changes something."""
        mask = np.zeros(4, dtype=np.int8)
        mask[list(self._game.legal_actions(self.position))] = 1
        return mask

    def render(self) -> Any:
        """The board as text (``ansi``) or as a picture (``rgb_array``)."""
        if self.render_mode == "rgb_array":
            return draw(self.rules, self.position)
        return state_text(self.rules, self.position) if self.render_mode == "ansi" else None

    def _get_info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "score": self.position.score}

    def _with_tiles(self, state: Game2048State) -> Game2048State:
        while state.tiles_to_come:
            outcomes, chances = zip(*self._game.chance_outcomes(state), strict=True)
            drawn = self.np_random.choice(len(outcomes), p=np.array(chances) / sum(chances))
            state = self.rules.result(state, outcomes[int(drawn)])
        return state
