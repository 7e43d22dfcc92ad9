"""Functions that all kernels share: limits, and where the rows and principal variations of plies are.

The functions here are compiled into every kernel that calls them. ``search`` is always the shared record, an
"address" that of words of eight bytes (``zermelo.envs.jit.memory``).
"""

from __future__ import annotations

from typing import Final

from zermelo.agents.kernels.layout import OUT_OF_MEMORY, OUT_OF_NODES, OUT_OF_STACK, TOO_DEEP, KernelRecord
from zermelo.envs.jit.memory import load, stack_address, take

_SHARE: Final = 1024
"""At most so many nodes does a thread claim at once of a limit that it shares."""
MULTIPLIER: Final = -7046029254386353131


def claim_nodes(search: KernelRecord) -> bool:
    """Takes a share of the nodes that the threads may visit together; false where none is left."""
    if search.unclaimed != 0:
        share = min(max(load(search.unclaimed, 0) >> 4, 16), _SHARE)
        share = min(share, take(search.unclaimed, share))
        if share > 0:
            search.node_limit += share
            return True
    search.stop = OUT_OF_NODES
    return False


def goes_deeper(search: KernelRecord, ply: int) -> bool:
    """Notes a ply that was not reached before, unless there is no room for it."""
    search.deepest = ply
    if ply > search.max_ply:
        search.stop = TOO_DEEP
        return False
    return has_room(search)


def has_room(search: KernelRecord) -> bool:
    """Whether the stack has room to look further."""
    here = stack_address()
    if search.stack_start == 0:
        search.stack_start = here
    if search.stack_start - here > search.stack_room:
        search.stop = OUT_OF_STACK
        return False
    return True


def enter(search: KernelRecord, ply: int) -> bool:
    """Counts a node, unless a limit forbids it."""
    if search.stop != 0:
        return False
    nodes = search.nodes
    if nodes >= search.node_limit and not claim_nodes(search):
        return False
    search.nodes = nodes + 1
    return ply <= search.deepest or goes_deeper(search, ply)


def has_memory(search: KernelRecord, top: int) -> bool:
    """Whether a node may write its record at ``top``, and those below it behind."""
    if top + search.node_bytes > search.arena_end:
        search.stop = OUT_OF_MEMORY
        return False
    return True


def row_of(search: KernelRecord, ply: int) -> int:
    """The address of a ply's row: the length of its principal variation, then what the kernel likes."""
    return search.rows + 8 * ply * search.row


def line_of(search: KernelRecord, ply: int) -> int:
    """The address of a ply's principal variation: each ply's can be a move shorter than that before it."""
    return search.lines + 8 * ply * search.line - 4 * ply * (ply - 1)
