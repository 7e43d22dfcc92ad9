"""Hanabi by conventions: what hints mean, who plays what, and whole games of it in compiled code."""

from typing import Any

from zermelo.agents.base.experts import Expert, Recommendation

_REASON = "it knows the conventions of this game"


def _recommended(game: Any, state: Any, may_compile: bool) -> Recommendation | None:
    """The rules; the first player also searches, as the others read its moves by the rules."""
    from zermelo.agents.experts.hanabi.agent import HanabiAgent, table_of
    from zermelo.agents.experts.hanabi.sparta import SpartaAgent

    if table_of(game) is None:
        return None
    if may_compile and game.to_move(state) == 0:
        return Recommendation(SpartaAgent, f"{_REASON}, and the first player searches")
    return Recommendation(HanabiAgent, _REASON)


EXPERT = Expert(
    agents={"hanabi": "experts.hanabi.agent:HanabiAgent", "sparta": "experts.hanabi.sparta:SpartaAgent"},
    recommended=_recommended,
)
