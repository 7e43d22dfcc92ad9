"""Equilibria of games in which players do not see the whole state: policies that nobody can exploit.

==================  ==========================================================================================
``sequence_form``   the game as arrays: what each player knows and does, and what all sequences together pay
``regrets``         counterfactual regret minimization, its variants, over these arrays
``sampling``        the same by sampling, for games too large to be written out
``policy``          what to play, with which probability, at each information state; kept in a file
``responses``       best responses, and so how much a policy can be exploited
``equilibrium``     all together: iterations until nobody gains more than a tolerance
``matrix_games``    games of one simultaneous move: linear programs, supports, dominance
``simultaneous``    games of several: a matrix game at each state, from the end
==================  ==========================================================================================
"""
