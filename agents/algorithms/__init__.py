"""The textbook: every algorithm of the package as one short function, without options, over any ``Game``.

Read here how a search works. The tests check the searches that agents run against these functions, which are
slow and obvious. They look to the end of the game or, with ``depth``, that many moves ahead, chance not counted;
``evaluate(state)`` then says what an unfinished state is worth on top of the rewards paid so far. Turns need not
alternate: every function asks the game who is to move.
"""

from zermelo.agents.algorithms.alpha_beta import alpha_beta
from zermelo.agents.algorithms.best_first import best_first
from zermelo.agents.algorithms.best_reply import best_reply
from zermelo.agents.algorithms.cfr import best_response_value, cfr
from zermelo.agents.algorithms.expectimax import expectimax
from zermelo.agents.algorithms.expectiminimax import expectiminimax
from zermelo.agents.algorithms.ismcts import ismcts
from zermelo.agents.algorithms.iterative_deepening import iterative_deepening
from zermelo.agents.algorithms.max_n import max_n
from zermelo.agents.algorithms.mcts import mcts
from zermelo.agents.algorithms.minimax import minimax
from zermelo.agents.algorithms.paranoid import paranoid
from zermelo.agents.algorithms.quiescence import quiescence
from zermelo.agents.algorithms.simultaneous import DecoupledUCT, Exp3, RegretMatching, simultaneous_mcts
from zermelo.agents.algorithms.star import star1, star2
from zermelo.agents.algorithms.value_iteration import value_iteration

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
