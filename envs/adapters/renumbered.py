"""Rules whose actions have other numbers than those of the environment that plays them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from zermelo.envs.errors import illegal_action
from zermelo.envs.game import CHANCE


class RenumberedGame:
    """The rules of one of OpenSpiel's games with its numbers; searches run on ``inside``, with the rules' own."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def __getattr__(self, name: str) -> Any:
        if name not in _ALIKE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.inside, name)

    def legal_actions(self, state: Any) -> Sequence[int]:
        return sorted(self.inside.to_env_action(state, action) for action in self.inside.legal_actions(state))

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        outcomes = self.inside.chance_outcomes(state)
        return [(self.inside.to_env_action(state, outcome), probability) for outcome, probability in outcomes]

    def result(self, state: Any, action: int) -> Any:
        if not self.inside.is_terminal(state) and self.inside.to_move(state) != CHANCE:
            legal = self.legal_actions(state)
            if action not in legal:
                raise illegal_action(action, f"in {self.inside.traits.name}", legal)
        return self.inside.result(state, self.inside.action_of(state, action))

    def to_env_action(self, state: Any, action: int) -> int:
        return action

    def action_text(self, state: Any, action: int) -> str:
        return str(self.inside.rules.action_text(state, self.inside.action_of(state, action)))

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        return tuple(self.inside.action_aliases(state, self.inside.action_of(state, action)))


_ALIKE: Final = frozenset(
    [
        "for_search",
        "image",
        "information_state_key",
        "initial_state",
        "is_terminal",
        "key",
        "moves_so_far",
        "observation",
        "resample",
        "rules",
        "snapshot",
        "text",
        "to_move",
        "traits",
        "utility",
    ]
)
"""The names that the rules have whatever the numbers of actions."""
