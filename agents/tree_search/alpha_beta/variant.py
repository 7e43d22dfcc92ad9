"""The variant of the kernel of two players: what of it a search needs."""

from __future__ import annotations

from typing import Final, NamedTuple


class TwoPlayerVariant(NamedTuple):
    """What a kernel of two players has.

    Attributes:
        prunes: False where every node is visited, as in minimax.
        selective: Whether some moves are searched less deep than others; only where it prunes.
        noisy: Whether the rules have noisy actions, which are searched beyond the depth limit.
        shares: Whether positions share their table entries whatever was before them, in rules in which that
            matters: then the value of a node does not enter the table if the repetition of an earlier position has
            counted in it.
        tables: Whether there is an endgame table, whose positions are proven leaves.
        network: Whether a network evaluates positions, in place of the rules.
    """

    prunes: bool = True
    selective: bool = False
    noisy: bool = True
    shares: bool = True
    tables: bool = False
    network: bool = False


WITH: Final = TwoPlayerVariant()
"""The variant that a kernel is compiled for stands in its place (``zermelo.envs.jit.build.Kernel``)."""
