"""Which nodes of a tree over copies keep their states: where these need too much memory, the last ones used.

The others are made again by replay, which is sound where a step leads to the same state each time.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable
from typing import Any, Final

from zermelo.agents.base.branches import child_of
from zermelo.agents.monte_carlo.plain_nodes import UctNode

_SHARE, _FEWEST = 0.5, 4
_WORD: Final = 8


class KeptStates:
    """The states of nodes; the root's stays in any case.

    Attributes:
        words: The memory set apart for them, in words of eight bytes; 0 where all are kept.
        is_limited: Whether any may be dropped.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._most, self.words = game, math.inf, 0
        self._with_state: collections.deque[UctNode] = (
            collections.deque()
        )  # those that may lose it, the oldest first

    @property
    def is_limited(self) -> bool:
        return self._most < math.inf

    def limit(self, size: int, memory: int) -> None:
        """Sets half of so many words of memory apart, for states of so many bytes each."""
        share = int(_SHARE * memory)
        self._most = max(share * _WORD // max(size, 1), _FEWEST)
        self.words = share

    def keep(self, node: UctNode, state: Any, root: UctNode | None) -> None:
        """Gives a node its state, for which the one that has had its own for longest loses it."""
        node.state = state
        if self.is_limited:
            self._with_state.append(node)
            while len(self._with_state) > self._most:
                oldest = self._with_state.popleft()
                if oldest is not root:
                    oldest.state = None

    def begin_again(self, nodes: Iterable[UctNode]) -> None:
        """Forgets all other nodes."""
        if self.is_limited:
            self._with_state = collections.deque(node for node in nodes if node.state is not None)

    def restore(self, path: list[tuple[UctNode, int]], node: UctNode) -> tuple[UctNode, int] | None:
        """Makes states again on the way to a node, from the last that is there; ``path`` begins with the root.

        Where the environment fails, the path ends, and the node and place are returned after which it did.
        """
        nodes = [above for above, _ in path] + [node]
        known = max(number for number, each in enumerate(nodes) if each.state is not None)
        state = nodes[known].state
        for number in range(known, len(path)):
            above, place = path[number]
            state = child_of(self._game, state, above.actions[place])
            if state is None:
                del path[number:]
                return above, place
            self.keep(nodes[number + 1], state, nodes[0])
        return None
