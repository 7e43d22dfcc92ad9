"""A tournament to look at: one HTML file with ratings, tables and games to step through.

tally     everything that is counted, in one pass over the games
sample    which games are shown
boards    those games as data, with the board after every move
sections  the tables and plots (markup, plots: what they are made of)
page      all of it in one file (report.html, report.css, report.js)
"""

from zermelo.evaluation.output.report.page import report_page, write_text

__all__ = ["report_page", "write_text"]
