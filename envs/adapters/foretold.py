"""Steps foretold by a copy, compared with what came: a difference is chance that copies do not show.

For whoever steps the real environment: a match, ``OpponentEnv``, an agent that is asked again. It takes one copy
and one step, and only where nobody has told that nothing is left to chance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Self

from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.adapters.copied_state import CopiedState
from zermelo.envs.adapters.copies import CopiedGame
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import Chance
from zermelo.envs.live.payments import Payments
from zermelo.envs.live.wrappers import of_step
from zermelo.envs.traits.findings import recall, see
from zermelo.envs.traits.observability import differences, shown

_TIMES: Final = 8


class Foretold:
    """The state that a step is to lead to, as a copy foretells it."""

    def __init__(self, game: CopiedGame, after: CopiedState) -> None:
        self.game, self.after = game, after

    @classmethod
    def of(cls, env: Any, action: Any) -> Self | None:
        """Plays an action, as ``env.step`` takes it, on a copy; None where there is nothing to compare.

        Nor is there where nobody has looked at such environments: copies may share their state.
        """
        if action is None:
            return None
        try:
            game = as_game(env, patience=0.0)
            if not isinstance(game, CopiedGame) or game.assumed is None or not game.assumed.chance:
                return None
            known = recall(game.assumed.origin)
            if known is None or known.trouble:  # nobody has seen whether copies leave it as it is
                return None
            return cls(game, game.foretell(game.snapshot(env), action))
        except ZermeloError:  # what cannot be copied is not searched either
            return None

    def compare(self, env: Any, returned: Any = None) -> str:
        """Returns how what came differs, once the environment was stepped; kept as seen, for all agents.

        ``returned`` is what ``step`` of a Gymnasium environment returned.
        """
        game, after = self.game, self.after
        try:
            came = game.snapshot(env) if returned is None or not after.over else after
            if returned is not None:
                observation, reward, terminated, truncated, info = of_step(returned)
                totals, over = (float(reward),), bool(terminated or truncated)
                came = replace(came, totals=totals, over=over, seen=observation, info=info)
                after = replace(after, totals=(after.totals[0],))
            one, other = (self._shown(state, with_totals=returned is not None) for state in (after, came))
        except (ZermeloError, TypeError, ValueError):
            return ""
        parts = [name for name in one if one[name] != other[name] and None not in (one[name], other[name])]
        if not parts:
            return ""
        text = f"a step led elsewhere than its copy ({', '.join(parts)})"
        if game.assumed is not None:
            see(game.assumed.origin, "chance", Chance.SAMPLED, text)
        return text

    def _shown(self, state: CopiedState, *, with_totals: bool) -> dict[str, Any]:
        found = shown(self.game, state)
        if not with_totals:
            found["rewards"] = self.game.rewards_now(state)
        return found


def seen_again(game: CopiedGame, before: CopiedState, action: Any, now: CopiedState) -> bool:
    """Whether an action that led elsewhere than its copy turns out to be chance: the same step is tried again.

    For an agent that is asked again and does not know whether its action was played: one copy and one step, unless
    what came is something else.
    """
    try:
        after = game.foretell(before, action)
        if after.over or game.position(after) == game.position(now):
            return False
        others = (game.foretell(before, action) for _ in range(_TIMES))
        if not any(differences(game, after, other) for other in others):
            return False
    except ZermeloError:
        return False
    if game.assumed is not None:
        see(game.assumed.origin, "chance", Chance.SAMPLED, "one action led from one state to two")
    return True


class WatchedPayments(Payments):
    """Steps a live AEC environment; with ``compares``, sees whether a copy foretold what comes."""

    compares = False

    def step(self, action: Any) -> None:
        foretold = Foretold.of(self._env, action) if self.compares else None
        super().step(action)
        if foretold is not None:
            foretold.compare(self._env)
