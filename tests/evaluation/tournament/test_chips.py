"""Tournaments of games that pay amounts: duplicate deals on cards, ranking by what was earned, teams."""

import functools

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last, legal_actions
from doubles.made_games import numbers_of as table

from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.evaluation import read_games, read_standings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.storage.counting import count_games
from zermelo.evaluation.tournament.plan import Tournament, has_luck, is_cooperative
from zermelo.evaluation.tournament.settings import TournamentSettings

LEDUC = "classic/leduc_holdem-v4"
HANABI = "classic/hanabi-v5"
KUHN = "zermelo/Kuhn-v0"


class Passive(First):
    """Calls or checks, and never folds or raises: the cards decide."""

    def __init__(self, name="passive", seen=None):
        super().__init__(name)
        self.seen = seen

    def act(self, env):
        game = env.unwrapped.env.game
        hands, board = [str(player.hand) for player in game.players], str(game.public_card)
        if self.seen is not None:
            self.seen.append((self.name, env.agent_selection, env.unwrapped.env.get_player_id(), hands, board))
        return next(action for action in (0, 3) if action in legal_actions(env))


@pytest.mark.thorough
def test_both_games_of_a_pair_have_the_same_cards_with_the_seats_exchanged():
    seen = []
    agents = {name: Passive(name, seen) for name in ("one", "two")}
    standings = round_robin(LEDUC, agents, games=6)
    first, second = ([game for game in standings.records if game.game_id.endswith(turn)] for turn in (".0", ".1"))
    assert [game.agents for game in first] == [game.agents[::-1] for game in second]
    assert [game.seed for game in first] == [game.seed for game in second]
    assert len({game.seed for game in first}) == 3
    # Two who do the same win as much with the cards as they lose against them.
    assert [game.rewards for game in first] == [game.rewards for game in second]
    assert any(game.rewards != (0.0, 0.0) for game in first)
    assert standings.row("one").reward_interval == (0.0, 0.0)
    hands = [(hands, board) for _, _, _, hands, board in seen]
    per_game = len(hands) // 6
    games = [hands[at : at + per_game] for at in range(0, len(hands), per_game)]
    assert games[::2] == games[1::2], "hands and the public card"
    assert any(board != "None" for _, board in hands)


@pytest.mark.parametrize(
    ("env", "luck", "team"),
    [
        (LEDUC, True, False),
        ("classic/rps-v2", True, False),
        ("classic/tictactoe-v3", False, False),
        ("zermelo/Pig-v0", True, False),
        ("zermelo/Othello-v0", False, False),
        (HANABI, True, True),
        (toy_envs.ToyEnv, True, False),
    ],
)
def test_what_is_known_of_the_environment_decides_deals_and_teams(env, luck, team):
    live = make(env) if isinstance(env, str) else env()
    assert has_luck(live) is luck
    assert is_cooperative(live, 0) is team


def test_games_without_luck_keep_the_seeds_they_had():
    plain = Tournament.prepare("classic/tictactoe-v3", ["random", "greedy"], TournamentSettings(games=4))
    cards = Tournament.prepare(LEDUC, ["random", "random"], TournamentSettings(games=4))
    assert len({game.seed for game in plain.schedule}) == 4
    assert len({game.seed for game in cards.schedule}) == 2
    assert "deals" not in plain.to_dict()
    assert cards.to_dict()["deals"] == "duplicate"


@pytest.mark.thorough
def test_a_run_in_a_folder_has_the_same_rewards_and_goes_on(tmp_path):
    agents = {"good": Good, "first": First, "last": Last}
    short = round_robin(KUHN, agents, games=5, out=tmp_path)
    assert short.scoring is Scoring.REWARDS
    whole = round_robin(KUHN, agents, games=9, out=tmp_path)
    fresh = round_robin(KUHN, agents, games=9)
    assert table(read_standings(tmp_path)) == table(whole) == table(fresh)
    assert whole.results.rotations == fresh.results.rotations == count_games(read_games(tmp_path)).rotations
    # What the tables rank by decides no game.
    by_wins = round_robin(KUHN, agents, games=9, out=tmp_path, score="wins")
    assert by_wins.scoring is Scoring.WINS
    assert by_wins.row("first").mean_reward == whole.row("first").mean_reward


def test_old_games_of_other_deals_are_not_mixed_in(tmp_path, monkeypatch):
    monkeypatch.setattr("zermelo.evaluation.tournament.plan.has_luck", lambda env: False)
    round_robin(KUHN, {"a": First, "b": Last}, games=2, out=tmp_path)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="deals: none there, duplicate here"):
        round_robin(KUHN, {"a": First, "b": Last}, games=4, out=tmp_path)


def test_the_leader_in_chips_ends_a_run_early():
    """Whoever folds at once loses the blind every time, and wins nothing."""
    agents = {"passive": Passive, "folds": functools.partial(Folds, "folds")}
    standings = round_robin(LEDUC, agents, games=200, until_sure=True, seed=2)
    assert standings.games < 200
    assert standings.notes[0].startswith(f"passive leads for sure, after {standings.games} of at most 200 games")
    equal = round_robin(toy_envs.DiceEnv, {"a": Good, "b": Good}, games=20, until_sure=True, score="rewards")
    assert equal.games == 20


class Folds(First):
    """Gives up at once."""

    def act(self, env):
        return 2


@pytest.mark.thorough
def test_hanabi_is_a_table_of_teams(tmp_path, capsys):
    standings = round_robin(HANABI, {"random": "random", "first": First}, games=4, out=tmp_path)
    assert standings.scoring is Scoring.TEAM
    assert standings.games == 12
    assert set(standings.rewards) == {(a, b) for a in ("random", "first") for b in ("random", "first")}
    assert table(read_standings(tmp_path)) == table(standings)
    assert "cooperative: all seats of a game are paid alike" in str(standings)
    with pytest.raises(SystemExit):
        main(["compare", str(tmp_path), "random", "first"])
    assert capsys.readouterr().out.splitlines() == [
        f"random with first: {standings.rewards['random', 'first'].mean:+.4g} a game, "
        "95 % interval +0 to +0 (from 2 deals)",
        "random alone: +0 a game, 95 % interval +0 to +0 (from 2 deals)",
        "first alone: +0 a game, 95 % interval +0 to +0 (from 2 deals)",
    ]
    alone = round_robin(HANABI, ["random"], games=2)
    assert [row.agent for row in alone.rows] == ["random"]
    assert alone.games == 2


@pytest.mark.parametrize("setting", [{"until_sure": True}, {"score": "money"}])
def test_what_teams_cannot_be_asked(setting):
    said = (
        "score must be one of 'auto', 'wins', 'rewards', 'team', not 'money'"
        if "score" in setting
        else "is cooperative"
    )
    with pytest.raises(InvalidSettingError, match=said):
        round_robin(HANABI, ["random", "random"], games=2, **setting)


def test_agents_that_cannot_play_are_refused_or_left_out(tmp_path):
    agents = ["random", "greedy", "cfr(iterations=5)", "random(seed=1)"]
    with pytest.raises(UnsupportedGameError, match=r"greedy cannot play here: .*--skip-unfit"):
        round_robin(KUHN, agents, games=2)
    standings = round_robin(KUHN, agents, games=2, skip_unfit=True, out=tmp_path)
    assert len(standings.rows) == 3
    assert standings.notes[0].startswith("Left out: greedy cannot play here: greedy needs to see the whole state")
    assert read_standings(tmp_path).notes == standings.notes


@pytest.mark.parametrize(
    ("env", "agent", "said"),
    [
        ("classic/texas_holdem-v4", "cfr", "needs the probabilities of chance"),
        (HANABI, "cfr", "has more than 2,000,000 states"),
        ("classic/tictactoe-v3", "cfr", "is for games that hide something"),
        ("classic/tictactoe-v3", "ismcts(simulations=5)", "is for games that hide something"),
        ("classic/tictactoe-v3", "ismcts", "is for games that hide something"),
        ("classic/tictactoe-v3", "simultaneous_mcts", "is for games in which players move at the same time"),
        ("classic/tictactoe-v3", "backward_induction", "is for games in which players move at the same time"),
    ],
)
def test_who_cannot_play_is_told_before_the_first_game(env, agent, said):
    with pytest.raises(UnsupportedGameError, match=f"cannot play here: .*{said}"):
        round_robin(env, ["random", agent], games=2)
