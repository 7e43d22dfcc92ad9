"""What an optional method of rules does where a rules class does not write it.

Each default has the signature of the method it stands for and only calls methods that every rules class has, so it
can be compiled with them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.protocol import Rules
from zermelo.envs.rules.scores import LOSS, WIN

EVALUATION_UNIT: Final = 1024
"""How many units of evaluation one point of utility is."""

GENERAL_SUM: Final = -(1 << 40)
"""What ``utility_sum()`` returns where the seats' utilities add up to different sums."""


def seats(self: Any) -> int:
    """Two players."""
    return 2


def player_actions(self: Rules) -> int:
    """Players may come to have every action."""
    return self.num_actions()


def max_legal_actions(self: Rules) -> int:
    """A state may have every action."""
    return self.num_actions()


def count_legal(self: Rules, state: Any, actions: Any) -> int:
    """By writing them."""
    return self.legal_actions(state, actions)


def utility_bounds(self: Any) -> tuple[int, int]:
    """A loss or a win."""
    return (-1, 1)


def utility_sum(self: Any) -> int:
    """Zero sum."""
    return 0


def key(self: Any, state: Any) -> int:
    """A 64-bit hash of the whole state."""
    mixed = 0
    for value in state:
        mixed = mix(mixed ^ value)
    return mixed


def key_bits(self: Any) -> int:
    """As many as there are."""
    return 64


def bounds(self: Any, state: Any) -> tuple[int, int]:
    """The widest there are: nothing is known."""
    return (LOSS, WIN)


def bounds_see_ends(self: Any) -> bool:
    """The end of the game is not seen before it is there."""
    return False


def chance_outcomes(self: Any, state: Any, outcomes: Any, probabilities: Any) -> int:
    """Chance is never to move."""
    return 0


def safe_actions(self: Rules, state: Any, actions: Any) -> int:
    """Every legal action."""
    return self.legal_actions(state, actions)


def ordering_hint(self: Any, state: Any, action: int) -> int:
    """No action looks better than another."""
    return 0


def evaluation(self: Rules, state: Any, seat: int) -> int:
    """Nobody is ahead."""
    least, greatest = self.utility_bounds()
    return (least + greatest) * (EVALUATION_UNIT // 2)


def is_noisy(self: Any, state: Any, action: int) -> bool:
    """No action is noisy."""
    return False


def playout_action(self: Any, state: Any, random: int) -> int:
    """Any legal action."""
    return -1


def action_priors(self: Any, state: Any, actions: Any, count: int, priors: Any) -> int:
    """No action looks better than another."""
    for index in range(count):
        priors[index] = 0.0
    return count


def noisy_actions(self: Rules, state: Any, actions: Any) -> int:
    """Of the legal actions those that are noisy."""
    count = 0
    for index in range(self.legal_actions(state, actions)):
        action = actions[index]
        if self.is_noisy(state, action):
            actions[count] = action
            count += 1
    return count


def is_urgent(self: Any, state: Any) -> bool:
    """No state is urgent."""
    return False


def pass_turn(self: Any, state: Any) -> Any:
    """Nobody can skip a turn; searches ask first whether a rules class writes this method."""
    return state


def symmetries(self: Any) -> int:
    """No symmetry but the position itself."""
    return 1


def symmetric_state(self: Any, state: Any, symmetry: int) -> Any:
    """Only the position itself."""
    return state


def symmetric_action(self: Any, action: int, symmetry: int) -> int:
    """Only the action itself."""
    return action


def repetition_key(self: Any, state: Any) -> int:
    """No position counts; searches ask first whether a rules class writes this method."""
    return 0


def repetition_limit(self: Any) -> int:
    """The third occurrence."""
    return 3


def repetition_is_illegal(self: Any) -> bool:
    """It ends the game."""
    return False


def repetition_is_claimed(self: Any) -> bool:
    """Only what has come about counts."""
    return False


def repetition_utility(self: Any, state: Any, seat: int) -> int:
    """A draw."""
    return 0


def reversible_plies(self: Any, state: Any) -> int:
    """All of the game."""
    return 1 << 30


DEFAULTS: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function
    for function in (
        seats,
        player_actions,
        max_legal_actions,
        count_legal,
        utility_bounds,
        utility_sum,
        key,
        key_bits,
        chance_outcomes,
        bounds,
        bounds_see_ends,
        safe_actions,
        ordering_hint,
        evaluation,
        is_noisy,
        noisy_actions,
        is_urgent,
        playout_action,
        action_priors,
        pass_turn,
        symmetries,
        symmetric_state,
        symmetric_action,
        repetition_key,
        repetition_limit,
        repetition_is_illegal,
        repetition_is_claimed,
        repetition_utility,
        reversible_plies,
    )
}


def method_or_default(rules: Any, name: str) -> Callable[..., Any]:
    """An optional method of rules, or what stands in for it."""
    own: Callable[..., Any] | None = getattr(rules, name, None)
    return own if own is not None else functools.partial(DEFAULTS[name], rules)
