"""Go on square boards: no suicide, ko or superko, area scoring; the game ends with two passes.

Rules: J. Tromp and B. Taylor, *The Game of Go*, 1995, without suicide, and with positional superko. With
``superko=0`` only the immediate recapture of one stone is illegal, as in PettingZoo's ``go_v5``. Stones are never
taken for dead: what is to be removed must be captured.

Actions are points, ``row * size + column``, row 0 at the upper edge, and last the pass.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.games.go.board import NO_POINT, GoState, around, captured_by, is_allowed, point_of, territory
from zermelo.envs.games.go.picture import COLUMNS, POINTS, paint
from zermelo.envs.games.go.playouts import playout_point
from zermelo.envs.games.go.priors import write_priors
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.board_methods import BoardMethods, require_limits
from zermelo.envs.rules.history import with_past
from zermelo.envs.rules.words import Words, contains, count, is_empty, lowest, no_places, scrambled, single


class _GoParameters(NamedTuple):
    size: int = 9
    komi: float = 7.5
    superko: int = 1


class Go(BoardMethods, _GoParameters):
    """Surround more of the board than the opponent.

    Attributes:
        size: Rows and columns, from 1 to 25.
        komi: Points that White, who moves second, gets.
        superko: 1 if no position of the board may be repeated, 0 if just no ko may be retaken at once.
    """

    __slots__ = ()
    marks = "XO"
    board_squares = POINTS

    def check(self) -> None:
        require_limits(self, size=(1, len(COLUMNS)), komi=(-1e6, 1e6), superko=(0, 1))

    def num_actions(self) -> int:
        return self.size * self.size + 1

    def initial_state(self) -> GoState:
        none = no_places((self.size + 2) * (self.size + 1) + 1)
        board = none
        for action in range(self.size * self.size):
            board = board | single(none, point_of(action, self.size))
        return GoState(none, none, board, NO_POINT, NO_POINT, 0)

    def to_move(self, state: GoState) -> int:
        return state.turn & 1

    def legal_actions(self, state: GoState, actions: list[int]) -> int:
        """Writes the empty points where a stone may be put, and the pass, regardless of superko."""
        own, other = (state.white, state.black) if state.turn & 1 else (state.black, state.white)
        size, number = self.size, 0
        places = state.empty
        while not is_empty(places):
            place = lowest(places)
            places = places - single(places, place)
            if place != state.ko and is_allowed(place, own, other, state.empty, size):
                actions[number] = place - place // (size + 1) - size - 1
                number += 1
        actions[number] = size * size
        return number + 1

    def result(self, state: GoState, action: int) -> GoState:
        size, seat = self.size, state.turn & 1
        if action == size * size:
            return GoState(state.black, state.white, state.empty, NO_POINT, NO_POINT, (state.turn ^ 1) + 2)
        own, other = (state.white, state.black) if seat else (state.black, state.white)
        place = point_of(action, size)
        stone = single(state.empty, place)
        own, empty = own | stone, state.empty - stone
        ko = NO_POINT
        if not is_empty(around(stone, size) & other):
            taken = captured_by(stone, other, empty, size)
            if not is_empty(taken):
                beside = around(stone, size) & (own | empty)
                if is_empty(beside) and count(taken) == 1:
                    ko = lowest(taken)
                other, empty = other - taken, empty | taken
        if seat:
            return GoState(other, own, empty, ko, place, 0)
        return GoState(own, other, empty, ko, place, 1)

    def pass_turn(self, state: GoState) -> GoState:
        """Passes without bringing the end of the game nearer."""
        return GoState(state.black, state.white, state.empty, NO_POINT, NO_POINT, state.turn ^ 1)

    def is_terminal(self, state: GoState) -> bool:
        return state.turn >= 4

    def utility(self, state: GoState, seat: int) -> int:
        lead = self.margin(state) - self.komi
        if lead == 0:
            return 0
        return 1 if (lead > 0) == (seat == 0) else -1

    def key(self, state: GoState) -> int:
        """Stones, ko and turn, but not the last move, which only guides playouts."""
        return self._board_key(state) ^ mix(state.ko * 8 + state.turn)

    def repetition_key(self, state: GoState) -> int:
        """The stones, whoever is to move; 0 after a pass, which is always legal."""
        if self.superko == 0 or state.turn >= 2:
            return 0
        key = self._board_key(state)
        return key if key else 1

    def repetition_limit(self) -> int:
        return 2

    def repetition_is_illegal(self) -> bool:
        return self.superko != 0

    def reversible_plies(self, state: GoState) -> int:
        """All with superko; without it history is ignored."""
        return 1 << 40 if self.superko else 0

    def playout_action(self, state: GoState, random: int) -> int:
        """A move near the last one that fits, else any that fills no eye; passes when there is none."""
        size = self.size
        place = playout_point(state, size, random)
        return place - place // (size + 1) - size - 1 if place != NO_POINT else size * size

    def action_priors(self, state: GoState, actions: list[int], count: int, priors: list[float]) -> int:
        """Captures, rescues, patterns, and points near the last move."""
        write_priors(state, self.size, actions, count, priors)
        return count

    def search_settings(self, search: str) -> dict[str, float]:
        """RAVE at 3,000 won 20 of 30 games against 1,000 and 15 against 10,000 (9x9, 1,500 simulations).

        Playouts have moves enough, except for cycles of several kos, which never end without superko.
        """
        moves = 4 * self.size * self.size
        return {"rave": 3_000.0, "exploration": 0.0, "playout_moves": moves} if search == "mcts" else {}

    def margin(self, state: GoState) -> int:
        """Black's stones and surrounded points less White's."""
        black = count(state.black) + count(territory(state.black, state.white, state.empty, self.size))
        return black - count(state.white) - count(territory(state.white, state.black, state.empty, self.size))

    def action_text(self, state: GoState, action: int) -> str:
        """A point as in the Go Text Protocol: a letter without I, then the row from the lower edge."""
        row, column = divmod(action, self.size)
        return "pass" if row == self.size else f"{COLUMNS[column]}{self.size - row}"

    def seat_names(self) -> tuple[str, str]:
        return "black_0", "white_0"

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.size, self.size, self.size + 2, self.size + 1, 1

    def planes(self, state: GoState, seat: int) -> tuple[Words, ...]:
        """The observer's stones, the other's, a forbidden ko, ones for White."""
        own, other = (state.white, state.black) if seat else (state.black, state.white)
        board = state.black | state.white | state.empty
        return own, other, single(own, state.ko), board if seat else own - own

    def image(self, state: GoState) -> Any:
        return paint(self, state).image()

    def _board_key(self, state: GoState) -> int:
        return scrambled(state.white, scrambled(state.black, self.size))


def _rules(env: Any) -> Go:
    """PettingZoo has no superko, and with equal points White has won, as with a little more komi."""
    komi = float(env._komi)
    return Go(int(env._N), komi + 0.25 if komi.is_integer() else komi, superko=0)


def _read_go(env: Any) -> GoState | None:
    position, size = env._go, int(env._N)
    if position.board.shape != (size, size):
        return None
    *_, empty, _, _, _ = Go(size).initial_state()
    black = white = empty - empty
    for action, colour in enumerate(position.board.flat):
        point = single(empty, point_of(action, size))
        if colour == 1:
            black = black | point
        elif colour == -1:
            white = white | point
        elif colour:
            return None
    recent = [move.move for move in position.recent]
    passes = 2 if recent[-2:] == [None, None] else int(recent[-1:] == [None])

    def place(point: Any) -> int:
        return NO_POINT if point is None else point_of(point[0] * size + point[1], size)

    last = place(recent[-1]) if recent else NO_POINT
    if last != NO_POINT and not contains(black | white, last):
        return None
    turn = 2 * passes + (position.to_play != 1)
    state = GoState(black, white, empty - black - white, place(position.ko), last, turn)
    known: GoState = with_past(_rules(env), state, ())
    return known


PETTINGZOO: Final = EquivalentRules(_rules, _read_go)
"""PettingZoo's environment of this game."""
