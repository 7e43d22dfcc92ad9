"""A tournament to look at: one HTML file with ratings, tables and games to step through.

effort    what games took, in one pass over them; their results are the standings'
sample    which games are shown
boards    those games as data, with the board after every move
sections  the tables and plots (markup, plots: what they are made of)
page      all of it in one file (report.html, report.css, report.js)
"""

from zermelo.evaluation.output.report.page import report_page

__all__ = ["report_page"]
