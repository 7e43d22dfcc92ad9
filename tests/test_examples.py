"""The examples in ``scripts`` run, and say what they promise."""

import runpy
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def test_a_card_game_of_ones_own(capsys):
    runpy.run_path(str(SCRIPTS / "example_cards.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "to fold and to bet are worth {0: -1.0, 1:" in said
    assert said.index("searches") < said.index("random"), "the better one is listed first"
