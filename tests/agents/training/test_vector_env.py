"""Many games at once: each is the game that the rules play in plain Python, whoever the opponents are."""

import gymnasium
import numpy as np
import pytest
from doubles.own_rules import Pictured

from zermelo.agents import AlphaBetaAgent, GreedyAgent, MinimaxAgent, make_agent
from zermelo.agents.kernels.layout import ASKED, GOING
from zermelo.agents.training import RulesVectorEnv, make_vec
from zermelo.envs import CHANCE, UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.observations import observation

FOUR = "zermelo/ConnectFour-v0(rows=4, columns=4)"
FEW = ["zermelo/MNK-v0(players=3, m=4, n=4)", "zermelo/Pig-v0(players=3, target=12)", "zermelo/Go-v0(size=3)"]
LONG = ["zermelo/Backgammon-v0", "zermelo/Chess-v0", "zermelo/Oware-v0"]
MANY = [
    "zermelo/Amazons-v0(size=4)",
    "zermelo/Breakthrough-v0(rows=5, columns=4)",
    "zermelo/Chomp-v0",
    "zermelo/Clobber-v0(rows=4, columns=4)",
    "zermelo/ConnectFour-v0",
    "zermelo/Domineering-v0(rows=4, columns=4)",
    "zermelo/DotsAndBoxes-v0(rows=2, columns=2, players=3)",
    "zermelo/EinStein-v0(size=4)",
    "zermelo/Game2048-v0(rows=2, columns=2)",
    "zermelo/Goofspiel-v0(cards=4, hidden=True)",
    "zermelo/Hex-v0(rows=4, columns=4)",
    "zermelo/Hexapawn-v0",
    "zermelo/Hypergammon-v0",
    "zermelo/Isolation-v0(rows=4, columns=4)",
    "zermelo/Kalah-v0(houses=3, seeds=3)",
    "zermelo/Kuhn-v0(players=3)",
    "zermelo/Leduc-v0",
    "zermelo/LiarsDice-v0(dice=2, sides=3)",
    "zermelo/Nim-v0",
    "zermelo/Othello-v0(rows=4, columns=4)",
]


def reached(game, state):
    """The states in which a player decides, or the game is over, that chance leads to from one."""
    if game.is_terminal(state) or game.to_move(state) != CHANCE:
        yield state
        return
    for outcome, _ in game.chance_outcomes(state):
        yield from reached(game, game.result(state, outcome))


def any_legal(masks, generator):
    return (generator.random(masks.shape) * (masks + 1e-9)).argmax(axis=1)


def check_seen(envs, game, number, state, seen, infos):
    """That a game's observation and mask are those of its state."""
    over = game.is_terminal(state)
    legal = [] if over else list(game.legal_actions(state))
    assert np.flatnonzero(seen["action_mask"][number]).tolist() == legal
    assert (infos["action_mask"][number] == seen["action_mask"][number]).all()
    if not over:
        assert infos["to_move"][number] == game.to_move(state)
        expected = observation(game.rules, state, int(infos["seat"][number]))
        assert (seen["observation"][number] == expected).all()
        assert seen["observation"].dtype == expected.dtype


def compare(name, count, steps, *, seed=5):
    """Plays all seats of some games at random, and follows them in plain Python; how many games ended."""
    envs = make_vec(name, count, opponent=None, threads=2)
    game = envs.game
    generator = np.random.default_rng(seed)
    seen, infos = envs.reset(seed=seed)
    states = [None] * count
    ended = 0
    first = list(reached(game, game.initial_state()))
    for _ in range(steps):
        found = envs.states()
        for number in range(count):
            if states[number] is None:  # it has just begun
                states[number] = next(state for state in first if tuple(state) == tuple(found[number]))
            assert tuple(states[number]) == tuple(found[number])
            check_seen(envs, game, number, states[number], seen, infos)
        actions = any_legal(seen["action_mask"], generator)
        movers = infos["to_move"]
        seen, rewards, terminated, truncated, infos = envs.step(actions)
        found = envs.states()
        assert not truncated.any()
        for number in range(count):
            if game.is_terminal(states[number]):
                assert not terminated[number]
                states[number] = None
                continue
            after = reached(game, game.result(states[number], int(actions[number])))
            states[number] = next(state for state in after if tuple(state) == tuple(found[number]))
            over = game.is_terminal(states[number])
            assert terminated[number] == over
            paid = game.utility(states[number]) if over else (0.0,) * game.traits.seats
            assert tuple(infos["rewards"][number]) == paid
            assert rewards[number] == paid[movers[number]]
            ended += over
    return ended


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in [*MANY, *LONG])])
def test_games_are_those_of_the_rules(name):
    """Every state, mask, observation and reward, over a few random games at once."""
    ended = compare(name, 3, 60)
    assert ended > 0 or name in LONG


def answers(game, state, agent, known):
    """The states in which the first seat decides, or the game is over, after chance and the agent's best play."""
    if game.is_terminal(state) or game.to_move(state) == 0:
        return {tuple(state)}
    if state not in known:
        if game.to_move(state) == CHANCE:
            moves = [outcome for outcome, _ in game.chance_outcomes(state)]
        else:
            values = agent.search_state(game, state).action_values
            moves = [action for action, value in values.items() if value == max(values.values())]
        known[state] = set().union(*(answers(game, game.result(state, move), agent, known) for move in moves))
    return known[state]


def replies(name, opponent, agent, count=4, steps=12):
    """Plays the first seat at random; each reply must be one of the agent's best actions. How many there were."""
    envs = make_vec(name, count, opponent=opponent, seat=0)
    game, known = envs.game, {}
    generator = np.random.default_rng(2)
    seen, _ = envs.reset(seed=1)
    checked = 0
    for _ in range(steps):
        before = envs.states()
        actions = any_legal(seen["action_mask"], generator)
        seen, _, terminated, _, _ = envs.step(actions)
        for number, (state, found) in enumerate(zip(before, envs.states(), strict=True)):
            if game.is_terminal(state):
                continue
            after = game.result(state, int(actions[number]))
            assert tuple(found) in answers(game, after, agent, known)
            assert terminated[number] == game.is_terminal(found)
            checked += not game.is_terminal(after) and game.to_move(after) != 0
    return checked


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("opponent", "agent"),
    [
        ("greedy", GreedyAgent()),
        ("alphabeta(depth=3)", AlphaBetaAgent(depth=3, exact=True)),
        ("alphabeta(depth=5)", AlphaBetaAgent(depth=5, exact=True)),
        ("minimax(depth=2)", MinimaxAgent(depth=2)),
    ],
)
def test_opponents_reply_as_the_agents_do(opponent, agent):
    assert replies(FOUR, opponent, agent) > 20


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("zermelo/Pig-v0(target=12)", "depth=3"),
        *(
            pytest.param(*given, marks=pytest.mark.slow)
            for given in (
                ("zermelo/Pig-v0(target=12)", "depth=3, pruning='star2'"),
                ("zermelo/Hypergammon-v0", "depth=2, beam_width=1"),
                ("zermelo/EinStein-v0(size=4)", "depth=1"),
                ("zermelo/EinStein-v0(size=4)", "depth=2, pruning='star1'"),
                ("zermelo/Backgammon-v0", "depth=1"),
            )
        ),
    ],
)
def test_opponents_look_through_chance_as_expectiminimax_does(name, settings):
    spec = f"expectiminimax({settings})"
    assert replies(name, spec, make_agent(f"{spec[:-1]}, exact=true)" if "pruning" in spec else spec)) > 10


@pytest.mark.thorough
def test_a_search_without_room_is_an_error_and_one_that_was_stopped_goes_on():
    found = []
    for stop in (GOING, ASKED):  # as Ctrl-C leaves it
        envs = make_vec("zermelo/Pig-v0(target=12)", 20, opponent="expectiminimax(depth=3)", seat=0)
        envs.reset(seed=0)
        search = envs._blocks[0].shards[0].search
        search.stop = stop
        envs.step(np.ones(20, int))
        found.append(envs.states())
    assert found[0] == found[1]
    search.arena_end = search.arena
    with pytest.raises(UnsupportedGameError, match="limit the search with depth="):
        envs.step(np.ones(20, int))


@pytest.mark.slow
def test_monte_carlo_does_not_lose_what_it_can_prove():
    envs = make_vec("zermelo/MNK-v0", 8, opponent="mcts(simulations=2000)")
    generator = np.random.default_rng(0)
    seen, _ = envs.reset(seed=0)
    best, ended = -1.0, 0
    for _ in range(30):
        seen, rewards, terminated, _, _ = envs.step(any_legal(seen["action_mask"], generator))
        best, ended = max(best, rewards[terminated].max(initial=-1)), ended + terminated.sum()
    assert ended > 30
    assert best <= 0


@pytest.mark.thorough
@pytest.mark.parametrize("opponent", ["random", "greedy", None])
def test_seeds_decide_and_threads_do_not(opponent):
    def games(threads, seed):
        envs = make_vec("zermelo/Pig-v0(target=15)", 130, opponent=opponent, threads=threads, seat="random")
        generator = np.random.default_rng(0)
        seen, _ = envs.reset(seed=seed)
        found = []
        for _ in range(10):
            seen, rewards, *_ = envs.step(any_legal(seen["action_mask"], generator))
            found.append((seen["observation"].tobytes(), rewards.tobytes()))
        return found

    assert games(1, 7) == games(3, 7)
    assert games(1, 7) != games(1, 8)


@pytest.mark.thorough
def test_each_of_several_opponents_has_its_share_of_the_games():
    envs = make_vec(FOUR, 7, opponent=["random", "greedy", "random"], seat=0)
    seen, _ = envs.reset(seed=0)
    assert seen["action_mask"].all()
    envs.step(np.arange(7) % 4)
    states = envs.states()
    assert all(state.stones.bit_count() == 2 for state in states)
    alone = make_vec(FOUR, 2, opponent="random", seat=0)
    alone.reset(seed=[1, 2])
    envs.reset(seed=[1, 2, 3, 4, 5, 6, 7])
    for actions in ([0, 1], [2, 2]):
        alone.step(np.array(actions))
        envs.step(np.array([*actions, 0, 0, 0, 0, 0]))
    assert envs.states()[:2] == alone.states()


@pytest.mark.slow
def test_a_list_of_seeds_gives_each_game_its_own():
    envs = make_vec("zermelo/Backgammon-v0", 3, opponent=None, observation="array")
    first, _ = envs.reset(seed=[1, 2, 1])
    assert (first[0] == first[2]).all()
    assert (first[0] != first[1]).any()
    with pytest.raises(InvalidSettingError, match="give one seed, or 3, not 2"):
        envs.reset(seed=[1, 2])


def test_it_begins_again_at_the_next_step():
    envs = make_vec(FOUR, 2, opponent=None)
    seen, _ = envs.reset(seed=0)
    start = seen["observation"].copy()
    for _ in range(3):
        for action in (0, 1):
            seen, *_ = envs.step(np.array([action, 2]))
    seen, rewards, terminated, _, infos = envs.step(np.array([0, 3]))
    assert terminated.tolist() == [True, False]
    assert rewards.tolist() == [1, 0]
    assert infos["rewards"][0].tolist() == [1, -1]
    assert not seen["action_mask"][0].any()
    seen, rewards, terminated, _, _ = envs.step(np.array([99, 3]))
    assert not terminated[0]
    assert rewards[0] == 0
    assert (seen["observation"][0] == start[0]).all()


def test_it_begins_again_in_the_same_step():
    envs = make_vec(FOUR, 1, opponent=None, autoreset="same_step")
    start = envs.reset(seed=0)[0]["observation"].copy()
    for action in (0, 1, 0, 1, 0, 1):
        _, _, _, _, infos = envs.step(np.array([action]))
    assert "final_obs" not in infos
    seen, rewards, terminated, _, infos = envs.step(np.array([0]))
    assert (rewards[0], terminated[0], infos["_final_obs"].tolist()) == (1, True, [True])
    assert (seen["observation"] == start).all()
    assert seen["action_mask"].all()
    assert infos["final_obs"]["observation"].sum() == 7
    assert not infos["final_obs"]["action_mask"].any()


@pytest.mark.thorough
def test_numbers_of_more_than_a_byte_are_shown_at_the_end_too():
    envs = make_vec("zermelo/Nim-v0(heaps=(200, 1))", 2, opponent=None, autoreset="same_step")
    seen, _ = envs.reset(seed=0)
    assert seen["observation"].tolist() == [[200, 1], [200, 1]]
    assert seen["observation"].dtype == np.int16
    seen, *_ = envs.step(np.array([198, 199]))  # so many and one more from the first heap
    assert seen["observation"].tolist() == [[1, 1], [0, 1]]
    seen, rewards, terminated, _, infos = envs.step(np.array([0, 200]))
    assert (rewards.tolist(), terminated.tolist()) == ([0, 1], [False, True])
    assert seen["observation"].tolist() == [[0, 1], [200, 1]]
    assert infos["final_obs"]["observation"][1].tolist() == [0, 0]


def test_an_illegal_action_ends_the_game_and_a_long_one_is_truncated():
    envs = make_vec(FOUR, 2, opponent="random", seat=0, illegal_reward=-5, max_moves=2)
    envs.reset(seed=0)
    _, rewards, terminated, truncated, infos = envs.step(np.array([-1, 0]))
    assert rewards.tolist() == [-5, 0]
    assert infos["illegal_action"].tolist() == [True, False]
    assert (terminated.tolist(), truncated.tolist()) == ([True, False], [False, True])


def test_it_is_a_vector_environment_as_gymnasium_has_them():
    envs = make_vec(FOUR, 4)
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(4, int))
    seen, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(seen)
    assert envs.action_space.contains(envs.action_space.sample())
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    recorded.reset(seed=0)
    generator = np.random.default_rng(0)
    lengths = []
    for _ in range(20):
        _, _, _, _, infos = recorded.step(any_legal(envs.action_masks().astype(float), generator))
        lengths += infos["episode"]["l"][infos["_episode"]].tolist() if "episode" in infos else []
    assert len(lengths) > 4
    assert all(1 <= length <= 8 for length in lengths)
    for wrong in (np.zeros(3, int), np.zeros(4), [[0]] * 4):
        with pytest.raises(InvalidSettingError, match="actions must be 4 integers"):
            envs.step(wrong)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"opponent": "paranoid(depth=2)"}, "opponents of many games at once are"),
        ({"opponent": "minimax"}, "opponents of many games at once are"),
        ({"opponent": "expectiminimax(depth=2)"}, "'expectiminimax\\(depth=...\\)' where there is chance"),
        ({"opponent": "alphabeta(depth=2, selective=game)"}, "opponents of many games at once are"),
        ({"opponent": "alphabeta"}, "opponents of many games at once are"),
        ({"seat": 2}, "seat must be"),
        ({"autoreset": "never"}, "autoreset must be one of"),
        ({"observation": "text"}, "observation must be"),
        ({"num_envs": 0}, "num_envs"),
        ({"opponent": []}, "give 1 to 1 opponents"),
        ({"opponent": ["random", "random"]}, "give 1 to 1 opponents"),
        ({"threads": 0}, "threads"),
        ({"max_moves": 0}, "max_moves"),
    ],
)
def test_wrong_settings_are_refused(given, sentence):
    with pytest.raises(InvalidSettingError, match=sentence):
        make_vec(FOUR, **given)


def test_what_has_no_rules_or_no_opponent_is_refused():
    with pytest.raises(UnsupportedGameError, match="has no compiled rules"):
        make_vec("openspiel/y")
    with pytest.raises(UnsupportedGameError, match="observations that do not compile"):
        make_vec(Pictured())
    with pytest.raises(UnsupportedGameError, match="say opponent=None"):
        make_vec("zermelo/Game2048-v0")
    with pytest.raises(UnsupportedGameError):
        make_vec("zermelo/Leduc-v0", opponent="greedy")


def test_classic_environments_are_played_by_their_twins():
    envs = make_vec("classic/tictactoe-v3", 2)
    assert isinstance(envs, RulesVectorEnv)
    assert not has_history(envs.game.rules)
