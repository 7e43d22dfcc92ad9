"""Games written down as their trees: the small ones that algorithms are explained on, and textbooks' figures."""

from zermelo.envs.trees.figures import figure, list_figures
from zermelo.envs.trees.tree_game import TreeGame, TreeNode, tree_game

__all__ = ["TreeGame", "TreeNode", "figure", "list_figures", "tree_game"]
