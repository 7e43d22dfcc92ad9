"""Leduc hold'em: rules, and whose environments play it."""

from zermelo.envs.games.hidden.leduc import elsewhere as elsewhere  # which says whose
from zermelo.envs.games.hidden.leduc.rules import Leduc as Leduc
from zermelo.envs.games.hidden.leduc.rules import LeducState as LeducState
