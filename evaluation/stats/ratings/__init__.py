"""Ratings, intervals and sequential tests from counts of games.

elo            two agents: Elo difference with its interval (of the score: scores), likelihood of superiority
sprt, Sprt     two agents: stop as soon as the games have decided
fit_ratings    any number of agents: Davidson's model with seats, Plackett-Luce for more than two (model);
               intervals are those of choices
find_cycles    A beats B beats C beats A
"""

from zermelo.evaluation.stats.ratings.choices import Effect
from zermelo.evaluation.stats.ratings.cycles import find_cycles
from zermelo.evaluation.stats.ratings.elo import EloEstimate, elo
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.ratings.sprt import Decision, Sprt, SprtResult, sprt
from zermelo.evaluation.stats.ratings.table import PlayerRating, RatingTable

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
