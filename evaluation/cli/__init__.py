"""The command line: ``zermelo tournament``, ``search``, ``play``, ``perft``, ``agents``, ``envs``.

Errors that are the user's to mend are one sentence on standard error and exit code 2; Ctrl-C is exit code 130.
"""

from zermelo.evaluation.cli.app import app, main

__all__ = ["app", "main"]
