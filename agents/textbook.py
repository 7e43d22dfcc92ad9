"""The textbook: every algorithm of the package as one short function, without options, over any ``Game``.

The tests check the searches that agents run against these. They look to the end of the game or, with ``depth``,
that many moves ahead, chance not counted; ``evaluate(state)`` then says what an unfinished state is worth on top
of the rewards paid so far.
"""

from zermelo.agents.equilibrium.textbook_cfr import best_response_value as best_response_value
from zermelo.agents.equilibrium.textbook_cfr import cfr as cfr
from zermelo.agents.monte_carlo.information_sets.textbook_ismcts import ismcts as ismcts
from zermelo.agents.monte_carlo.simultaneous.textbook_simultaneous import DecoupledUCT as DecoupledUCT
from zermelo.agents.monte_carlo.simultaneous.textbook_simultaneous import Exp3 as Exp3
from zermelo.agents.monte_carlo.simultaneous.textbook_simultaneous import RegretMatching as RegretMatching
from zermelo.agents.monte_carlo.simultaneous.textbook_simultaneous import simultaneous_mcts as simultaneous_mcts
from zermelo.agents.monte_carlo.textbook_uct import mcts as mcts
from zermelo.agents.solving.textbook_best_first import best_first as best_first
from zermelo.agents.solving.textbook_value_iteration import value_iteration as value_iteration
from zermelo.agents.tree_search.alpha_beta.textbook_alpha_beta import alpha_beta as alpha_beta
from zermelo.agents.tree_search.alpha_beta.textbook_iterative_deepening import (
    iterative_deepening as iterative_deepening,
)
from zermelo.agents.tree_search.alpha_beta.textbook_quiescence import quiescence as quiescence
from zermelo.agents.tree_search.chance.textbook_expectimax import expectimax as expectimax
from zermelo.agents.tree_search.chance.textbook_expectiminimax import expectiminimax as expectiminimax
from zermelo.agents.tree_search.chance.textbook_star import star1 as star1
from zermelo.agents.tree_search.chance.textbook_star import star2 as star2
from zermelo.agents.tree_search.many_players.textbook_best_reply import best_reply as best_reply
from zermelo.agents.tree_search.many_players.textbook_max_n import max_n as max_n
from zermelo.agents.tree_search.many_players.textbook_paranoid import paranoid as paranoid
from zermelo.agents.tree_search.textbook_minimax import minimax as minimax
