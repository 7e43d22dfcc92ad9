"""Ratings, intervals and sequential tests from counts of games.

elo            two agents: Elo difference with its interval (of the score: scores), likelihood of superiority
sprt, Sprt     two agents: stop as soon as the games have decided
fit_ratings    any number of agents: Davidson's model with seats, Plackett-Luce for more than two (model);
               intervals are those of choices
find_cycles    A beats B beats C beats A
"""
