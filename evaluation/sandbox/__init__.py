"""Agents in processes of their own, where deadlines and limits on memory and output hold whatever they do."""

from zermelo.evaluation.sandbox.choice import Isolate
from zermelo.evaluation.sandbox.settings import Isolation

__all__ = ["Isolate", "Isolation"]
