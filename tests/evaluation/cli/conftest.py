"""The command line in this process: as a result, or as exit code, output and errors."""

import pytest
from typer.testing import CliRunner

from zermelo.evaluation.cli import app


@pytest.fixture
def cli(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *words, **settings: CliRunner().invoke(app, [str(word) for word in words], **settings)


@pytest.fixture
def run(cli):
    def run(*words):
        result = cli(*words)
        return result.exit_code, result.stdout, result.stderr

    return run
