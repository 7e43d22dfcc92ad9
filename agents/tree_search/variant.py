"""The variant that all compiled tree searches have: which kernel is below the root, and what of it is needed."""

from __future__ import annotations

from typing import Final, NamedTuple


class TreeVariant(NamedTuple):
    """What the kernel of a tree search has.

    Attributes:
        general: Whether the general kernel is below the root.
        max_n: Whether max^n is; if neither, the kernel of two players (``alpha_beta.variant``).
        chance: Whether the rules have chance.
        replies: Whether only one opponent answers (best reply).
        network: Whether a network evaluates positions, in place of the rules.
    """

    general: bool = False
    max_n: bool = False
    chance: bool = True
    replies: bool = True
    network: bool = False


TREE: Final = TreeVariant()
"""The variant that a kernel is compiled for stands in its place (``zermelo.envs.jit.build.Kernel``)."""
