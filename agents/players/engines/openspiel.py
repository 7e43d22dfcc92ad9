"""OpenSpiel's Monte Carlo tree search, in C++, as an agent: a peer in every table of its games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.settings import flag, number, whole
from zermelo.agents.players.search_agent import ConfiguredAgent
from zermelo.envs import GameOverError, UnsupportedGameError
from zermelo.envs.adapters.wrappers import game_name, innermost

__all__ = ["OpenSpielMCTSAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OpenSpielMCTSAgent(ConfiguredAgent):
    """OpenSpiel's own Monte Carlo tree search in C++, for its games: ``openspiel/hex(board_size=5)``.

    Attributes:
        simulations: How many to make for a move.
        exploration: The weight of what was tried less, with utilities as they are (``uct_c``).
        playouts: Random games for each leaf.
        solver: Whether wins and losses are proven where the tree reaches the end of the game.
        memory_mb: The memory for the tree, in MB.
    """

    kind: ClassVar[str] = "openspiel_mcts"

    simulations: int = whole(1_000, lower=1)
    exploration: float = number(2.0, lower=0)
    playouts: int = whole(1, lower=1)
    solver: bool = flag(True)
    memory_mb: int = whole(1_000, lower=1)

    def decide(self, env: Any) -> int:
        """The action to play.

        Raises:
            UnsupportedGameError: It is not one of OpenSpiel's games, or not one that its search takes.
            GameOverError: There is nothing to decide.
        """
        state: Any = getattr(innermost(env), "game_state", None)
        if type(state).__module__.partition(".")[0] != "pyspiel":
            raise UnsupportedGameError(
                f"openspiel_mcts plays OpenSpiel's games, such as openspiel/hex, not {game_name(env)}: use 'mcts'"
            )
        import pyspiel

        if state.is_terminal() or state.is_chance_node():
            raise GameOverError(f"nobody has a choice in {game_name(env)}: the game is over, or chance is to move")
        seeds = [int(seed) for seed in self.generator.integers(2**31, size=2)]
        try:
            bot = pyspiel.MCTSBot(
                state.get_game(),
                pyspiel.RandomRolloutEvaluator(self.playouts, seeds[0]),
                self.exploration,
                self.simulations,
                self.memory_mb,
                self.solver,
                seeds[1],
                False,
            )
            return int(bot.step(state))
        except pyspiel.SpielError as error:
            raise UnsupportedGameError(f"OpenSpiel's search does not take {game_name(env)}: {error}") from error
