"""A tournament to look at: one HTML file with ratings, tables and games to step through.

page        all of it in one file, and the report of training runs alone
sections    the tables and plots; training: those of training runs
markup      tables and figures as HTML
effort      counts over all games: lengths, times, ratings as games went on
sample      which games are shown; boards: the data of each, with what the judge says
assets      the templates, the styles and the script
"""
