"""The contract of rules: every method that rules may have, its arguments, its default, and who calls it.

``zermelo.envs.rules.contract`` has it as a table. Arguments go by their names: ``state`` is a state; ``actions``
and ``outcomes`` are buffers of integers, ``probabilities`` and ``priors`` of floats, ``numbers`` one to write
observations into; all others are integers.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.scores import LOSS, WIN
from zermelo.envs.rules.words import flatten_state

if TYPE_CHECKING:
    import numpy as np

EVALUATION_UNIT: Final = 1024
"""The units of ``evaluation`` in one point of utility."""
GENERAL_SUM: Final = -(1 << 40)
"""The value of ``utility_sum()`` where the seats' utilities add up to different sums."""


class RequiredMethods(Protocol):
    """Methods that every game has."""

    def initial_state(self) -> Any:
        """The state in which the game starts: a named tuple of integers."""

    def num_actions(self) -> int:
        """The number of different actions of players: they are 0 to ``num_actions() - 1``."""

    def to_move(self, state: Any) -> int:
        """The seat to move, from 0, or ``CHANCE``; any seat at the end."""

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Writes the legal actions, ascending, and returns how many; at least one unless the game is over."""

    def result(self, state: Any, action: int) -> Any:
        """The state after an action or a chance outcome."""

    def is_terminal(self, state: Any) -> bool:
        """Whether the game has ended."""

    def utility(self, state: Any, seat: int) -> int:
        """The outcome for a seat; asked at terminal states only."""


class GeneralMethods(RequiredMethods, Protocol):
    """Methods for all searches."""

    def seats(self) -> int:
        """The number of players; 2."""
        return 2

    def num_outcomes(self) -> int:
        """The number of different chance outcomes, which have numbers of their own from 0; ``num_actions()``."""
        return self.num_actions()

    def max_legal_actions(self) -> int:
        """The most legal actions or chance outcomes of any state: the size of buffers. As many as there are."""
        return max(self.num_actions(), self.num_outcomes())

    def count_legal(self, state: Any, actions: Any) -> int:
        """The number of legal actions, where it is faster to count than to write them; ``perft`` asks it."""
        return self.legal_actions(state, actions)

    def utility_bounds(self) -> tuple[int, int]:
        """The lowest and highest utility of a seat; (-1, 1)."""
        return (-1, 1)

    def utility_sum(self) -> int:
        """The sum of all seats' utilities at every end, or ``GENERAL_SUM`` where it varies; 0."""
        return 0

    def chance_outcomes(self, state: Any, outcomes: Any, probabilities: Any) -> int:
        """At a chance state, writes outcomes and their probabilities, and returns how many; no chance."""
        return 0

    def key(self, state: Any) -> int:
        """64 bits, equal only for states with the same future; a hash of the whole state."""
        mixed = 0
        for value in flatten_state(state):
            mixed = mix(mixed ^ value)
        return mixed

    def key_bits(self) -> int:
        """The number of low bits that ``key`` uses; 64."""
        return 64

    def check(self) -> None:
        """Raises ``InvalidSettingError`` for parameters out of range; called before a game begins."""

    def received(self, state: Any, seat: int) -> int:
        """The utility that a seat has got so far, for value iteration; the rest depends on ``future``. 0."""
        return 0

    def future(self, state: Any) -> Any:
        """The state as if nothing had been received: value iteration takes equal ones for one. The state."""
        return state


class SearchMethods(GeneralMethods, Protocol):
    """Methods for alpha-beta and its relatives."""

    def evaluation(self, state: Any, seat: int) -> int:
        """The value of an unfinished state in 1024ths of a point, clamped inside the bounds; their middle.

        With chance it must be a positive linear transformation of expected utility, as averages are compared.
        """
        lower, upper = self.utility_bounds()
        return (lower + upper) * (EVALUATION_UNIT // 2)

    def evaluates_before_chance(self) -> bool:
        """Whether chance states at the depth limit are evaluated as they are, not outcome by outcome; False."""
        return False

    def continues_move(self, state: Any) -> bool:
        """Whether the next action completes a move that has begun, as between the halves of a double; False.

        In games with chance, expectiminimax and paranoid count all actions of such a move as one move of depth.
        """
        return False

    def ordering_hint(self, state: Any, action: int) -> int:
        """A move score: higher is searched earlier, from 2 ** 26 on before killers; 0."""
        return 0

    def proof_hint(self, state: Any, action: int) -> int:
        """A move score for ``solve`` and ``proof``; ``ordering_hint``."""
        return self.ordering_hint(state, action)

    def is_noisy(self, state: Any, action: int) -> bool:
        """Whether quiescence search follows an action beyond the depth limit; False."""
        return False

    def noisy_actions(self, state: Any, actions: Any) -> int:
        """Writes the noisy legal actions, ascending, and returns how many; asks ``is_noisy`` of each."""
        count = 0
        for index in range(self.legal_actions(state, actions)):
            action = actions[index]
            if self.is_noisy(state, action):
                actions[count] = action
                count += 1
        return count

    def is_urgent(self, state: Any) -> bool:
        """Whether selective searches leave nothing out and quiescence follows every action, as in check; False."""
        return False

    def is_losing(self, state: Any, action: int) -> bool:
        """Whether selective searches leave an action out near the depth limit, as it gives a piece away; False."""
        return False

    def is_known_win(self, state: Any) -> bool:
        """Whether the side ahead surely wins: ``evaluation`` then counts, not a network. By default False."""
        return False

    def mirror_image(self, state: Any) -> Any:
        """Another position of the same value, with the same player to move, or the state itself.

        Networks learn from either. It is for symmetries that only some positions have, such as those of chess
        without rights to castle; see ``symmetries`` for others.
        """
        return state

    def pass_turn(self, state: Any) -> Any:
        """The state as if the mover had skipped its turn, for null moves; the state itself where nobody should.

        It is no move of the game. Without it nobody skips.
        """
        return state

    def symmetries(self) -> int:
        """The number of symmetries, the identity (number 0) included; 1."""
        return 1

    def symmetric_state(self, state: Any, symmetry: int) -> Any:
        """The state seen through a symmetry."""
        return state

    def symmetric_action(self, action: int, symmetry: int) -> int:
        """The action seen through a symmetry."""
        return action

    def search_settings(self, search: str) -> Mapping[str, Any]:
        """The settings of a search that pay in this game: of those that ``auto`` takes, and of ``"selective"``.

        ``playout_moves`` of ``"mcts"``, for playouts that could go on for ever, holds for all Monte Carlo search.
        """
        return {}


class MonteCarloMethods(Protocol):
    """Methods for Monte Carlo tree search."""

    def playout_action(self, state: Any, random: int) -> int:
        """An action for a playout, drawn by 64 random bits; -1 for any legal one, all as likely."""
        return -1

    def action_priors(self, state: Any, actions: Any, count: int, priors: Any) -> int:
        """Writes for each action how many simulations, won or lost (negative), it is as good as; 0 for each."""
        for index in range(count):
            priors[index] = 0.0
        return count


class RepetitionMethods(Protocol):
    """Methods of games in which repeated positions matter."""

    def repetition_key(self, state: Any) -> int:
        """64 bits, equal for states that count as one position; 0 for a state that never counts."""
        return 0

    def repetition_limit(self) -> int:
        """The occurrence of a position that matters, the past of the game included; 3."""
        return 3

    def repetition_is_illegal(self) -> bool:
        """Whether it is illegal to reach it (superko): there must be another action. Else it ends the game."""
        return False

    def repetition_is_claimed(self) -> bool:
        """Whether it ends the game one move before, as by a claim in chess; False."""
        return False

    def repetition_utility(self, state: Any, seat: int) -> int:
        """The outcome for a seat then; 0."""
        return 0

    def reversible_plies(self, state: Any) -> int:
        """Plies since the first position that can still be repeated; the whole game."""
        return 1 << 30


class ProofMethods(RequiredMethods, Protocol):
    """Methods for ``solve`` and ``proof``; scores are those of ``zermelo.envs.rules.scores``."""

    def bounds(self, state: Any) -> tuple[int, int]:
        """At an unfinished state, the lowest and highest score that the mover can still reach; none known."""
        return (LOSS, WIN)

    def safe_actions(self, state: Any, actions: Any) -> int:
        """Writes the legal actions in any order, but for those that a listed one is at least as good as; all."""
        return self.legal_actions(state, actions)


class TableMethods(RequiredMethods, Protocol):
    """Methods of games whose endgame tables number positions; of others, the positions reached are listed."""

    def table_part(self, state: Any) -> int:
        """The part of a table that a state is in, such as its pieces or its empty squares; -1 for none."""
        return -1

    def table_size(self, part: int) -> int:
        """The count of numbers of a part's states; some may stand for none."""
        return 0

    def table_index(self, state: Any) -> int:
        """The number of a state in its part, from 0; symmetric states may share one."""
        return 0

    def table_state(self, part: int, index: int) -> Any:
        """The state with a number; one that is in no part if the number stands for none."""

    def table_lead(self, state: Any) -> int:
        """The mover's lead so far; nonzero for tables that store gains from there instead of distances."""
        return 0

    def table_repetition(self, state: Any) -> int:
        """The mover's gain if repetition ends the game there; tables need it unless repetition always draws."""
        return 0

    def table_horizon(self, state: Any) -> int:
        """In how many moves a win must come that another rule, such as that of fifty moves, shall not undo."""
        return 1 << 30

    def table_unit(self) -> str:
        """The unit of a table's size: ``"pieces"``, ``"stones"``, or ``"empty"`` (squares); the latter."""
        return "empty"

    def table_parts(self, what: str) -> Sequence[Sequence[int]]:
        """Parts that are solved together, each such group after those that its moves lead to."""

    def table_part_text(self, part: int) -> str:
        """A part as people write it; its number."""
        return str(part)

    def table_rules(self) -> Any:
        """The rules with parameters that tables do not depend on as they are by default; the rules."""
        return self


class HiddenMethods(Protocol):
    """Methods of games in which players do not see the whole state: two, and an observation, are needed."""

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        """All that a seat has seen, its own actions included: equal for states that it cannot tell apart."""

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        """A state that a seat cannot tell from this one, as chance would have dealt it; sort what is dealt."""

    def moves_so_far(self, state: Any) -> Sequence[int]:
        """The outcomes and actions from the start to a state: hands are weighed by how others have played."""

    def round_start(self, state: Any) -> Any:
        """The state without what has been chosen in this round, where players move at the same time."""

    def hides_more(self) -> bool:
        """Whether anything besides the moves of a round is hidden; False."""
        return False


class ObservationMethods(Protocol):
    """Methods for learning agents and environments."""

    def planes(self, state: Any, seat: int) -> tuple[Any, ...]:
        """The boards that a seat sees, its own pieces first; ``BoardMethods`` makes text of them.

        Networks read their bits; by default those of all integers of the state.
        """
        return flatten_state(state)

    def layout(self) -> tuple[int, int, int, int, int]:
        """Rows and columns of planes, the first square's place in them, and the steps down and to the right."""

    def write_observation(self, state: Any, seat: int, numbers: Any) -> None:
        """Writes what a seat sees, its own first, into zeros of ``observation_box()``; the state's bits."""

    def observation_box(self) -> tuple[tuple[int, ...], tuple[int, int], str]:
        """Of observations the shape, the lowest and highest number, and a type of integers such as ``"int8"``."""

    def observation(self, state: Any, seat: int) -> Any:
        """The observation of a seat as a numpy array, in place of ``write_observation``."""


class TextMethods(Protocol):
    """Methods for people."""

    def text(self, state: Any) -> str:
        """The state as people draw it; its integers by name."""

    def action_text(self, state: Any, action: int) -> str:
        """An action or chance outcome as people write it; its number."""

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        """Other ways to write an action; none."""
        return ()

    def seat_names(self) -> tuple[str, ...]:
        """The players' names; ``player_0``, ..."""

    def image(self, state: Any) -> Any:
        """An RGB picture; drawn from the text (``zermelo.envs.pictures.boards``)."""


class Rules(
    SearchMethods,
    MonteCarloMethods,
    RepetitionMethods,
    ProofMethods,
    TableMethods,
    HiddenMethods,
    ObservationMethods,
    TextMethods,
    Protocol,
):
    """Rules as compiled code sees them: every method is there, its own or the default."""


PARTS: Final = (RequiredMethods, GeneralMethods, *Rules.__bases__[:-1])
"""The methods in groups, by who calls them."""
NEVER_COMPILED: Final = {
    *("initial_state", "check", "received", "future", "evaluates_before_chance", "search_settings"),
    *("table_unit", "table_parts", "table_part_text", "table_rules", "observation_box", "observation"),
    *vars(HiddenMethods), *vars(TextMethods),
}  # fmt: skip
"""Methods that only plain Python calls."""
