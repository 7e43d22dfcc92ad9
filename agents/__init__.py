"""Which action? Search agents, baselines and the evaluations they use."""

from zermelo.agents.agent import Agent
from zermelo.agents.limits import Limits, StoppedBy
from zermelo.agents.result import SearchResult

__all__ = ["Agent", "Limits", "SearchResult", "StoppedBy"]
