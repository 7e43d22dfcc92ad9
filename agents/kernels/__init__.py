"""Searches compiled over a game's rules; the plain Python searches beside them are their oracle.

``tree_search.compiled_search`` gives alpha-beta or minimax below the root, for ``agents.deepening.deepen``;
``proof.Prover`` proves scores to the end of the game. Both are for games that ``as_game`` made of rules
(``zermelo.envs.rules``) and say with None, or ``can_prove``, where they do not fit.

Importing this package does not import Numba: the modules ``*_kernel`` do, when a kernel is first built.
"""
