"""Agents in processes of their own, where deadlines and limits on memory and output hold whatever they do."""

from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names
from zermelo.evaluation.sandbox.choice import Isolate

if TYPE_CHECKING:
    from zermelo.evaluation.sandbox.settings import Isolation

__all__ = ["Isolate", "Isolation"]

if not TYPE_CHECKING:  # the settings bring agents, which the command line does without until it runs a command
    __getattr__ = lazy_names(__name__, {"settings": "Isolation"})
