"""Texas hold'em by an abstract game: betting, hands sorted into buckets, and policies computed by CFR."""

from typing import Any

from zermelo.agents.base.experts import Expert, Recommendation


def _recommended(game: Any, state: Any, may_compile: bool) -> Recommendation | None:
    from zermelo.agents.experts.poker.agent import HoldemAgent, holdem_of, is_rlcards

    if holdem_of(game) is None or not is_rlcards(game, state):
        return None
    return Recommendation(HoldemAgent, "it has a policy for this game")


EXPERT = Expert(agents={"holdem": "experts.poker.agent:HoldemAgent"}, recommended=_recommended)
