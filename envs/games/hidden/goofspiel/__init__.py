"""Goofspiel: rules, and what players know."""

from zermelo.envs.games.hidden.goofspiel.rules import Goofspiel as Goofspiel
from zermelo.envs.games.hidden.goofspiel.rules import GoofspielState as GoofspielState
