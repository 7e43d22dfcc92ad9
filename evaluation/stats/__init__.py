"""Statistics of results (``zermelo.evaluation.results``).

ranking         agents in order, with rows, crosstable and ratings; ``Standings`` prints it
rows            one agent's games, score and interval, notes on the games, and games that depend on each other
score_interval  the interval of a mean score or return
rewards         mean rewards and their intervals, by deals
ratings         Elo and its interval, ratings of many agents, sequential tests
"""
