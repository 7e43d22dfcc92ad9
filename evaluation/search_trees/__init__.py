"""A search drawn as a tree: recorded step by step, as a page to go through and as SVG for papers.

record, simulations  what a search of the game tree, or a Monte Carlo tree search, tells its observer (draft: nodes
                     that are not finished; viewpoint: whose values)
model, steps         what the search did, which does not change any more, and the same as a list
names, best_line     states, moves and values as text; the line of play that was chosen
svg                  the figure and its layout
page                 the page (its parts are in assets)
drawing              ``draw_tree``
"""

from zermelo.evaluation.search_trees.drawing import MAX_NODES, TreeDrawing, check_file, draw_tree, tree_of_text

__all__ = ["MAX_NODES", "TreeDrawing", "check_file", "draw_tree", "tree_of_text"]
