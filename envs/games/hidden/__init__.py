"""Games in which players hold what others do not see: small pokers and liar's dice."""

from zermelo.envs.games.hidden.kuhn import Kuhn
from zermelo.envs.games.hidden.leduc import Leduc
from zermelo.envs.games.hidden.liars_dice import LiarsDice

__all__ = ["Kuhn", "Leduc", "LiarsDice"]
