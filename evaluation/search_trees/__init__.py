"""A search drawn as a tree: recorded step by step, as a page to go through and as SVG for papers.

record       what a search of the game tree tells its observer; simulations: what Monte Carlo tree search does
model        what the search did, step by step
names        states, moves and values as text, and whose values they are
svg, page    the figure with its layout, and the page (its parts are in assets)
drawing      ``draw_tree``
"""
