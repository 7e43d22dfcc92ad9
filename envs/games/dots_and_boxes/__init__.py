"""Dots and Boxes: rules, what searches know beyond them, and the picture."""

from zermelo.envs.games.dots_and_boxes.rules import DotsAndBoxes as DotsAndBoxes
from zermelo.envs.games.dots_and_boxes.rules import DotsAndBoxesState as DotsAndBoxesState
