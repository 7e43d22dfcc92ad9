"""Learning to play from nothing: self-play by tree search with a policy-value network, over compiled rules.

A name brings its module when it is first used, as in ``zermelo.envs``; PyTorch is imported when a network is made.
"""

from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.learning.alphazero.network import answers_of as answers_of
    from zermelo.agents.learning.alphazero.network import make_network as make_network
    from zermelo.agents.learning.alphazero.self_play import AlphaZeroSettings as AlphaZeroSettings
    from zermelo.agents.learning.alphazero.training import AlphaZero as AlphaZero
    from zermelo.agents.learning.alphazero.training import Iteration as Iteration

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "network": "answers_of make_network",
            "self_play": "AlphaZeroSettings",
            "training": "AlphaZero Iteration",
        },
    )
