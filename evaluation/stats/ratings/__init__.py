"""Who is better, by how much, and how sure that is: from counts of games, and from nothing else.

elo            two agents: Elo difference, likelihood of superiority, normalized Elo
sprt, Sprt     two agents: stop as soon as the games have decided
fit_ratings    any number of agents: Bradley-Terry and Plackett-Luce with ties and seats
find_cycles    A beats B beats C beats A
"""

from zermelo.evaluation.stats.ratings.cycles import find_cycles
from zermelo.evaluation.stats.ratings.elo import EloEstimate, elo
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.ratings.sprt import Decision, Sprt, SprtResult, sprt
from zermelo.evaluation.stats.ratings.table import Effect, PlayerRating, RatingTable

__all__ = [
    "Decision",
    "Effect",
    "EloEstimate",
    "PlayerRating",
    "RatingTable",
    "Sprt",
    "SprtResult",
    "elo",
    "find_cycles",
    "fit_ratings",
    "sprt",
]
