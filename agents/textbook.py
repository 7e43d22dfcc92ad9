"""The textbook: every algorithm of the package as one short function, without options, over any ``Game``.

Read here how a search works. The tests check the searches that agents run against these functions, which are
slow and obvious. They look to the end of the game or, with ``depth``, that many moves ahead, chance not counted;
``evaluate(state)`` then says what an unfinished state is worth on top of the rewards paid so far. Turns need not
alternate: every function asks the game who is to move.
"""

from zermelo.agents.equilibrium.textbook_cfr import best_response_value, cfr
from zermelo.agents.monte_carlo.information_sets.textbook_ismcts import ismcts
from zermelo.agents.monte_carlo.simultaneous.textbook_simultaneous import (
    DecoupledUCT,
    Exp3,
    RegretMatching,
    simultaneous_mcts,
)
from zermelo.agents.monte_carlo.textbook_uct import mcts
from zermelo.agents.solving.textbook_best_first import best_first
from zermelo.agents.solving.textbook_value_iteration import value_iteration
from zermelo.agents.tree_search.alpha_beta.textbook_alpha_beta import alpha_beta
from zermelo.agents.tree_search.alpha_beta.textbook_iterative_deepening import iterative_deepening
from zermelo.agents.tree_search.alpha_beta.textbook_quiescence import quiescence
from zermelo.agents.tree_search.chance.textbook_expectimax import expectimax
from zermelo.agents.tree_search.chance.textbook_expectiminimax import expectiminimax
from zermelo.agents.tree_search.chance.textbook_star import star1, star2
from zermelo.agents.tree_search.many_players.textbook_best_reply import best_reply
from zermelo.agents.tree_search.many_players.textbook_max_n import max_n
from zermelo.agents.tree_search.many_players.textbook_paranoid import paranoid
from zermelo.agents.tree_search.textbook_minimax import minimax

__all__ = [
    "DecoupledUCT",
    "Exp3",
    "RegretMatching",
    "alpha_beta",
    "best_first",
    "best_reply",
    "best_response_value",
    "cfr",
    "expectimax",
    "expectiminimax",
    "ismcts",
    "iterative_deepening",
    "max_n",
    "mcts",
    "minimax",
    "paranoid",
    "quiescence",
    "simultaneous_mcts",
    "star1",
    "star2",
    "value_iteration",
]
