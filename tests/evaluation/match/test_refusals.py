"""Mistakes are answered in one sentence with a remedy, before a game is lost over them."""

import re

import pytest
from typer.testing import CliRunner

from zermelo.agents import AlphaBetaAgent, GreedyAgent, MCTSAgent, MinimaxAgent, solve
from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
from zermelo.envs import UnsupportedGameError, as_game, perft
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK
from zermelo.evaluation import round_robin
from zermelo.evaluation.cli import app
from zermelo.evaluation.workers.settings import AgentLimits


@pytest.mark.parametrize("agent", [AlphaBetaAgent(depth=2), MCTSAgent(simulations=20), GreedyAgent()], ids=repr)
def test_rules_and_games_are_searched_from_their_start(agent):
    for thing in (MNK(3, 3, 3), as_game(MNK(3, 3, 3)), "classic/tictactoe-v3", "zermelo/MNK-v0(m=3, n=3, k=3)"):
        assert agent.search(thing).action in range(9)
        assert agent.search_state(thing).action in range(9)


def test_names_of_environments_are_taken_as_environments_are():
    assert solve("classic/tictactoe-v3").value == 0
    assert solve("zermelo/Nim-v0").value == -1
    assert perft("classic/tictactoe-v3", 2) == 72


class NoState:
    def __call__(self, game):
        return [0, 0]


EVALUATORS = {
    "three": lambda game, state, seat: [0, 0],
    "none": lambda: [0, 0],
    "keyword": lambda game, *, depth: [0, 0],
    "object": NoState(),
}


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("kind", [AlphaBetaAgent, MinimaxAgent, MCTSAgent, GreedyAgent])
def test_an_evaluator_is_called_with_a_game_and_a_state(kind, evaluator):
    with pytest.raises(InvalidSettingError, match=r"must be a function of game and state, but .* is called with"):
        kind(evaluator=EVALUATORS[evaluator])


def test_advice_fits_what_was_asked():
    with pytest.raises(UnsupportedGameError, match=r"search it with 'simultaneous_mcts'"):
        solve_simultaneous("classic/rps-v2", most_states=5)
    with pytest.raises(UnsupportedGameError, match=r": use 'simultaneous_mcts'"):
        AlphaBetaAgent().search("classic/rps-v2")


@pytest.mark.parametrize(
    ("name", "said"), [("aima-5.55", "did you mean 'aima-5.5'"), ("x", "figures are aima-5.2,")]
)
def test_figures_are_listed_where_one_is_asked_for(name, said):
    done = CliRunner().invoke(app, ["tree", name, "alphabeta"])
    assert done.exit_code != 0
    assert said in " ".join(done.output.split())


def test_engines_are_refused_at_games_that_they_do_not_play(tmp_path):
    engine = tmp_path / "engine"
    engine.write_text(
        "#!/bin/sh\n"
        "while read line; do case $line in uci) echo uciok;; isready) echo readyok;; quit) exit;; esac; done\n"
    )
    engine.chmod(0o755)
    with pytest.raises(UnsupportedGameError, match=re.escape("uci plays chess, such as classic/chess-v6")):
        round_robin("classic/tictactoe-v3", [f"uci(path={str(engine)!r})", "random"], games=2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_models_are_refused_at_games_that_they_were_not_trained_on(tmp_path):
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(84, 7)

        def forward(self, x):
            return self.layer(x.flatten(1))

    path = tmp_path / "net.pt"
    torch.jit.trace(Net(), torch.zeros(1, 6, 7, 2)).save(str(path))
    model, how = f"torch(path={str(path)!r})", {"games": 2, "isolation": AgentLimits(isolate="none")}
    with pytest.raises(UnsupportedGameError, match=r"does not fit what players of tictactoe_v3 see or do"):
        round_robin("classic/tictactoe-v3", [model, "random"], **how)
    assert round_robin("classic/connect_four-v3", [model, "random"], **how)
