"""Nim with any heaps that fit, normal or misère, for two or more players.

Rules: C. L. Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3, 1901. The players
take turns to take one or more objects from one heap. The player who takes the last object of all wins; in the
misère game that player loses.

For more than two players the winner of the normal game gets 1 from every other player, and the loser of the misère
game pays 1 to every other player.

Actions: ``heap * largest + taken - 1``, where heaps count from 0 and ``largest`` is the size of the largest heap
at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules.about import OpenSpielRules
from zermelo.envs.rules.board_methods import Written, require_limits


class NimState(NamedTuple):
    """The heaps, each in as many bits as the largest one needs, the first one lowest, and the seat to move."""

    heaps: int
    seat: int


class _NimParameters(NamedTuple):
    """The parameters as compiled code takes them: integers, whatever the number of heaps."""

    packed: int
    number: int
    bits: int
    largest: int
    misere: bool
    players: int


class Nim(Written, _NimParameters):
    """Take any number of objects from one heap; the last object decides.

    Args:
        heaps: The sizes of the heaps at the start, each 1 to 255. As many fit as 56 bits hold, where each heap
            needs the bits of the largest one: 7 heaps of up to 255, 14 of up to 15, 28 of up to 3.
        misere: Whether taking the last object loses.
        players: Number of players, 2 to 16.

    Attributes:
        packed: The heaps as in a state.
        number: The number of heaps.
        bits: Bits for a heap.
        largest: The size of the largest heap.

    Raises:
        InvalidSettingError: The heaps do not fit.
    """

    __slots__ = ()

    _field_defaults: ClassVar[dict[str, Any]] = {"heaps": (1, 3, 5, 7), "misere": False, "players": 2}  # type: ignore[misc]

    def __new__(cls, heaps: Sequence[int] = (1, 3, 5, 7), misere: bool = False, players: int = 2) -> Nim:
        try:
            sizes = tuple(heaps)
        except TypeError:
            sizes = ()
        whole = all(isinstance(size, int) and 1 <= size <= 255 for size in sizes)
        bits = max(sizes).bit_length() if sizes and whole else 0
        if not sizes or not whole or bits * len(sizes) > 56:
            raise InvalidSettingError(
                "Nim needs heaps such as (1, 3, 5, 7): at least one, each of 1 to 255, and together at most 56 "
                f"bits (each heap counts for the bits of the largest one), not heaps={heaps!r}"
            )
        packed = sum(size << bits * heap for heap, size in enumerate(sizes))
        return super().__new__(cls, packed, len(sizes), bits, max(sizes), misere, players)

    def _asdict(self) -> dict[str, Any]:
        return {"heaps": self.heaps, "misere": self.misere, "players": self.players}

    @property
    def heaps(self) -> tuple[int, ...]:
        """The sizes of the heaps at the start."""
        return self._sizes(self.packed)

    def check(self) -> None:
        require_limits(self, misere=bool, players=(2, 16))

    def seats(self) -> int:
        return self.players

    def num_actions(self) -> int:
        return self.number * self.largest

    def utility_bounds(self) -> tuple[int, int]:
        return (1 - self.players, 1) if self.misere else (-1, self.players - 1)

    def initial_state(self) -> NimState:
        return NimState(self.packed, 0)

    def to_move(self, state: NimState) -> int:
        return state.seat

    def legal_actions(self, state: NimState, actions: list[int]) -> int:
        count = 0
        for heap in range(self.number):
            for taken in range(state.heaps >> heap * self.bits & (1 << self.bits) - 1):
                actions[count] = heap * self.largest + taken
                count += 1
        return count

    def result(self, state: NimState, action: int) -> NimState:
        taken = (action % self.largest + 1) << action // self.largest * self.bits
        return NimState(state.heaps - taken, (state.seat + 1) % self.players)

    def is_terminal(self, state: NimState) -> bool:
        return state.heaps == 0

    def utility(self, state: NimState, seat: int) -> int:
        last = (seat + 1) % self.players == state.seat
        if self.misere:
            return 1 - self.players if last else 1
        return self.players - 1 if last else -1

    def key(self, state: NimState) -> int:
        return state.heaps << 4 | state.seat

    def key_bits(self) -> int:
        return self.number * self.bits + 4

    def text(self, state: NimState) -> str:
        return " ".join(map(str, self._sizes(state.heaps)))

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (self.number,), (0, self.largest), "int16"

    def write_observation(self, state: NimState, seat: int, numbers: Any) -> None:
        """The sizes of the heaps."""
        for heap in range(self.number):
            numbers[heap] = state.heaps >> heap * self.bits & (1 << self.bits) - 1

    def action_text(self, state: NimState, action: int) -> str:
        return f"{action % self.largest + 1} from heap {action // self.largest + 1}"

    def _sizes(self, heaps: int) -> tuple[int, ...]:
        return tuple(heaps >> heap * self.bits & (1 << self.bits) - 1 for heap in range(self.number))


def from_openspiel(is_misere: bool, pile_sizes: str) -> OpenSpielRules:
    """Its numbers go by what is taken first, and then by heap."""
    rules = Nim(tuple(map(int, pile_sizes.split(";"))), is_misere)
    most, heaps = rules.largest, rules.number
    return OpenSpielRules(rules=rules, to_openspiel=lambda state, action: action % most * heaps + action // most)
