"""A tournament to look at: one HTML file with ratings, tables and games to step through.

page    all of it in one file, and the report of training runs alone
parts   the tables and plots, and what they count (effort, history)
games   which games are shown, and the data of each: boards, and what the judge says
names   short names for where there is little room
assets  the templates, the styles and the script
"""

from zermelo.evaluation.output.report.page import Beside, report_page, training_page

__all__ = ["Beside", "report_page", "training_page"]
