"""Equilibria of games in which players do not see the whole state: policies that nobody can exploit.

==================  ==========================================================================================
``sequence_form``   the game as arrays: what each player knows and does, and what all sequences together pay
``regrets``         counterfactual regret minimization over these arrays; by sampling, for larger games
``equilibrium``     best responses, and iterations until nobody gains more than a tolerance
``matrix_games``    moves at the same time: linear programs, supports, dominance; several moves, from the end
==================  ==========================================================================================
"""
