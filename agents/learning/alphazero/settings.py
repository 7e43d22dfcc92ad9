"""Settings of training by self-play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zermelo.agents.core.settings import check_settings, flag, number, whole


@dataclass(frozen=True, kw_only=True)
class AlphaZeroSettings:
    """Settings of training by self-play, checked.

    Attributes:
        games: How many games are played at once; the network is asked about as many positions at a time.
        simulations: Simulations for each move.
        considered: How many actions the root's simulations are shared out among at most.
        exploration: The weight of priors inside the tree (PUCT), with values from 0 to 1.
        visit_weight, value_weight: How much values count against priors in the improved policy: the latter times
            the sum of the former and the most visits of an action (c_visit and c_scale of Gumbel AlphaZero).
        random_plies: Every game begins with random moves, as many as are drawn up to this.
        longest: After so many moves a game ends, and counts as even.
        solver: Whether wins, losses and draws are proven where the tree reaches the end of the game.
        channels, blocks: Width and residual blocks of the network.
        positions: New positions of an iteration: they are played, then the network learns.
        reuse: How often a position is learned from, on average.
        buffer: How many positions are remembered.
        batch_size: Positions of a step of learning.
        learning_rate: At first; it falls to a twentieth over the training, by a cosine.
        weight_decay: Of AdamW.
        value_mix: The share of the search's value in what the value is to be; the rest is how the game ended.
        symmetries: Whether positions are seen through the rules' symmetries, drawn anew each time.
        seed: Decides all that is drawn.
    """

    games: int = whole(256, lower=1)
    simulations: int = whole(32, lower=2)
    considered: int = whole(16, lower=2)
    exploration: float = number(1.25, lower=0)
    visit_weight: float = number(50.0, lower=0)
    value_weight: float = number(0.2, lower=0)
    random_plies: int = whole(8)
    longest: int = whole(512, lower=1)
    solver: bool = flag(True)
    channels: int = whole(32, lower=1)
    blocks: int = whole(4, lower=1)
    positions: int = whole(4_096, lower=1)
    reuse: float = number(8.0, lower=0)
    buffer: int = whole(200_000, lower=1)
    batch_size: int = whole(256, lower=2)
    learning_rate: float = number(2e-3, lower=0)
    weight_decay: float = number(1e-4, lower=0)
    value_mix: float = number(0.5, lower=0, upper=1)
    symmetries: bool = flag(True)
    seed: int = whole(0)

    def __post_init__(self) -> None:
        check_settings(self)

    def differences(self, other: dict[str, Any]) -> list[str]:
        """The names of the settings that have another value there."""
        return [name for name in self.__dataclass_fields__ if getattr(self, name) != other.get(name)]
