"""Statistics of results (``zermelo.evaluation.results``).

ranking         agents in order, with rows, crosstable and ratings; ``Standings`` prints it
rows            one agent's games, score and interval, and notes on the games
score_interval  the interval of a mean score or return
rewards         mean rewards and their intervals, by deals
independence    pairs from one opening, and repetitions
ratings         Elo and its interval, ratings of many agents, sequential tests
"""
