"""Backgammon: GNU Backgammon as an agent."""

from zermelo.agents.base.experts import Expert

EXPERT = Expert(programs={"gnubg": "experts.backgammon.gnubg:GnubgAgent"})
