"""Go: its score by area as an evaluation."""

from typing import Any

from zermelo.agents.base.experts import Expert


def _evaluator(game: Any, state: Any) -> Any:
    from zermelo.agents.experts.go.evaluator import GoEvaluator, go_lead

    return None if go_lead(game, state) is None else GoEvaluator()


EXPERT = Expert(evaluators={"go": "experts.go.evaluator:GoEvaluator"}, evaluator=_evaluator)
