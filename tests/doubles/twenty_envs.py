"""Twenty small environments of which random play shows too little; each docstring says what is right, and why.

Five of each kind: rare pay, late chance, late hidden things, another configuration. With
``reset(options={"near": True})`` a game starts where what is rare is near; play starts from the usual place.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from doubles.assumed_envs import Solo, TwoInTurn

FAR = 40


class Walk(TwoInTurn):
    """A token that both walk; at ``FAR`` something is left to choose. Random play does not get there."""

    moves = 60

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.generator, self.options = generator, options
        self.place = FAR if options.get("near") else 5

    def seen(self) -> list[int]:
        return [self.place, self.turn_number]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        if self.place < FAR:
            self.place = max(0, self.place + (1 if action else -1))
            return 0.0, 0.0, self.turn_number >= self.moves
        return self.there(action)

    def there(self, action: int) -> tuple[float, float, bool]:
        """What choosing at the far end pays who moves and the other."""
        raise NotImplementedError


# Rare pay


class Shared(Walk):
    """Both get 1 for action 1 and nothing for 0. Right: 1."""

    def there(self, action: int) -> tuple[float, float, bool]:
        return float(action), float(action), True


class Gift(Walk):
    """The mover gets 2 and the other 5 for 1; for 0 the mover gets 1 and the other loses 5. Right: 1, worth 2."""

    def there(self, action: int) -> tuple[float, float, bool]:
        return (2.0, 5.0, True) if action else (1.0, -5.0, True)


class OnTheWay(Walk):
    """1 pays the mover 3 of the other's at once, 0 nothing; four moves, then the last mover wins 1. Right: 1."""

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        super().start(generator, options)
        self.left = 4

    def seen(self) -> list[int]:
        return [*super().seen(), self.left]

    def there(self, action: int) -> tuple[float, float, bool]:
        self.left -= 1
        paid = 3.0 * action + (self.left == 0)
        return paid, -paid, self.left == 0


class Delayed(Walk):
    """What both chose is paid two moves later: 4 to both if both chose 1, else nothing. Right: 1, worth 4."""

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        super().start(generator, options)
        self.chosen: list[int] = []

    def seen(self) -> list[int]:
        return [*super().seen(), *self.chosen, *[-1] * (4 - len(self.chosen))]

    def there(self, action: int) -> tuple[float, float, bool]:
        self.chosen.append(action)
        paid = 4.0 if self.chosen[:2] == [1, 1] and len(self.chosen) == 4 else 0.0
        return paid, paid, len(self.chosen) == 4


class Fine(Walk):
    """0 costs both 6; 1 costs the mover 1 and pays the other nothing. Right: 1, worth -1."""

    def there(self, action: int) -> tuple[float, float, bool]:
        return (-1.0, 0.0, True) if action else (-6.0, -6.0, True)


# Late chance


class Table(Solo):
    """A walk to a far table; there 0 pays 10 for sure, and 1 pays 30 once in four times. Right: 0, worth 10."""

    def start(self, options: dict[str, Any]) -> None:
        self.place = FAR if options.get("near") else 0

    def seen(self) -> Any:
        return np.array([self.place, self.moves, 0])

    def draw(self) -> float:
        """A number from 0 to 1."""
        raise NotImplementedError

    def play(self, action: int) -> tuple[float, bool]:
        if self.place < FAR:
            self.place = max(0, self.place + (1 if action else -1))
            return 0.0, False
        return (30.0 if action and self.draw() < 0.25 else 0.0 if action else 10.0), True


class OwnNumpy(Table):
    """Draws from a generator of NumPy's that it made itself. Right: 0, worth 10."""

    def start(self, options: dict[str, Any]) -> None:
        super().start(options)
        self.own = np.random.default_rng(7)

    def draw(self) -> float:
        return float(self.own.random())


class OwnPython(Table):
    """Draws from a ``random.Random`` of its own. Right: 0, worth 10."""

    def start(self, options: dict[str, Any]) -> None:
        super().start(options)
        self.own = random.Random(7)

    def draw(self) -> float:
        return self.own.random()


class GlobalPython(Table):
    """Draws from ``random``. Right: 0, worth 10."""

    def draw(self) -> float:
        return random.random()


class GlobalNumpy(Table):
    """Draws from NumPy's global generator. Right: 0, worth 10."""

    def draw(self) -> float:
        return float(np.random.random())  # noqa: NPY002 - as strangers do


class System(Table):
    """Draws from the operating system, so that no generator moves. Right: 0, worth 10."""

    def draw(self) -> float:
        return random.SystemRandom().random()


# Late hidden things


class Dealt(Walk):
    """At the far end who moves is dealt a card that the other does not see, and may bet on its being red.

    To bet pays 1 if it is red and costs 1 if not; 0 pays nothing. The mover does not see it either until it bets.
    Right: not to be known; a search that knows the card peeks.
    """

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        super().start(generator, options)
        self.card = int(generator.integers(2))

    def there(self, action: int) -> tuple[float, float, bool]:
        paid = float(action) * (1 if self.card else -1)
        return paid, -paid, True


class Fog(Solo):
    """Ten rooms in a row, of which one has a pit; nobody sees it until the token stands beside it. A pit costs 5.

    Right: not to be known before the neighbour room; a search that knows the pit peeks.
    """

    actions, shown = 3, 2

    def start(self, options: dict[str, Any]) -> None:
        self.place, self.pit = 0, int(self.np_random.integers(2, 9))

    def seen(self) -> Any:
        return np.array([self.place, int(self.pit - self.place == 1)])

    def play(self, action: int) -> tuple[float, bool]:
        self.place += action  # stay, walk, jump
        if self.place == self.pit:
            return -5.0, True
        return float(self.place >= 9), self.place >= 9


class Simultaneous(TwoInTurn):
    """Matching pennies, one move after the other: the second player does not see what the first one chose.

    The second player wins 1 if both chose the same. Right: worth 0 to both; a search that sees the choice is at 1.
    """

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.first = -1

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        if self.turn_number == 1:
            self.first = action
            return 0.0, 0.0, False
        paid = 1.0 if action == self.first else -1.0
        return paid, -paid, True


class Role(TwoInTurn):
    """Player b is a friend or a traitor, which only b sees. In the third move a trusts (1) or not (0).

    To trust a friend pays a 1, a traitor takes 1. Right: not to be known to a; a search for a peeks.
    """

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.is_traitor = bool(generator.integers(2))

    def observe(self, agent: Any) -> Any:
        return np.array([self.turn_number, int(agent == "b" and self.is_traitor)])

    def seen(self) -> list[int]:
        return [self.turn_number, 0]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        if self.turn_number < 3:
            return 0.0, 0.0, False
        paid = float(action) * (-1 if self.is_traitor else 1)
        return paid, -paid, True


class Deck(Solo):
    """The cards 0, 2, 4, 6, 8, shuffled, face down: 1 takes the next one, 0 lets it go for 7 points.

    Right at the start: 0, as the next card is worth 4 and what it tells is worth less than the 3 that it costs.
    A search that knows that it is the 8 takes it.
    """

    shown = 2

    def start(self, options: dict[str, Any]) -> None:
        self.deck = [2 * int(card) for card in self.np_random.permutation(5)]
        self.last = -1

    def seen(self) -> Any:
        return np.array([len(self.deck), self.last])

    def play(self, action: int) -> tuple[float, bool]:
        card = self.deck.pop()
        self.last = card if action else -1
        return (float(card) if action else 7.0), not self.deck


# Another configuration


class Configured(TwoInTurn):
    """Two players name 0 to 2, four times in turn. ``together`` decides: both get the sum, or b wins it of a.

    Right for b, who moves last: 2 in both; for a in the third move: 2 where they play together, 0 where not.
    """

    actions = 3

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.total, self.options = 0, options

    def seen(self) -> list[int]:
        return [self.turn_number, self.total]

    def together(self) -> bool:
        raise NotImplementedError

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        self.total += action
        over = self.turn_number == 4
        if not over:
            return 0.0, 0.0, False
        return float(self.total), float(self.total if self.together() else -self.total), True


TOGETHER = False


class ByModule(Configured):
    """A constant of the module decides."""

    def together(self) -> bool:
        return TOGETHER


class ByVariable(Configured):
    """An environment variable decides."""

    def together(self) -> bool:
        return os.environ.get("TOGETHER") == "1"


class ByFile(Configured):
    """A file decides, which is read at the end."""

    file: ClassVar[Path]

    def together(self) -> bool:
        return self.file.read_text() == "1"


class ByOption(Configured):
    """What ``reset`` was given decides."""

    def together(self) -> bool:
        return bool(self.options.get("together"))


class ByPatch(Configured):
    """A method that is put into the class decides."""

    def together(self) -> bool:
        return False
