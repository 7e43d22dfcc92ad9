"""What players of our own games are shown, byte for byte: trained policies depend on it."""

import hashlib
import random

import numpy as np
import pytest
from oracles.compared_searches import random_result

from zermelo.envs import as_game, make
from zermelo.envs.errors import RulesError
from zermelo.envs.games import MNK, Nim
from zermelo.envs.rules.observations import observation

DIGESTS = {
    "zermelo/Amazons-v0": "b408dbd267f0aed4",
    "zermelo/Amazons-v0(size=5)": "da1c3d5bcb5a7fe5",
    "zermelo/Backgammon-v0": "1c2c78ac8104e3c3",
    "zermelo/Breakthrough-v0": "526d35efaa4e8219",
    "zermelo/Chess-v0": "ea26605cb34905dc",
    "zermelo/Chomp-v0": "3d5edc1f22e7c56d",
    "zermelo/Clobber-v0": "51dc9c4255d042bb",
    "zermelo/ConnectFour-v0": "daa442fdd275a16c",
    "zermelo/Domineering-v0": "b7c3734f52370839",
    "zermelo/DotsAndBoxes-v0": "003a2862799e4c80",
    "zermelo/DotsAndBoxes-v0(rows=7, columns=7, players=3)": "eb972a7fc19ee689",
    "zermelo/EinStein-v0": "563bf1f1dd48ba9d",
    "zermelo/EinStein-v0(random_start=True)": "791a694aa6f5c55e",
    "zermelo/Game2048-v0": "c9bca25db37f1ea3",
    "zermelo/Go-v0": "24f6aa59c73907be",
    "zermelo/Goofspiel-v0": "fd2efa6e88b902c6",
    "zermelo/Goofspiel-v0(cards=5, shuffled=False)": "b768d53d49e66c50",
    "zermelo/Goofspiel-v0(cards=6, hidden=True)": "7e394ee5173e223e",
    "zermelo/Hex-v0": "e2804228fd156f75",
    "zermelo/Hex-v0(rows=3, columns=7)": "63d809e5e14406fc",
    "zermelo/Hexapawn-v0": "5c7800309b647441",
    "zermelo/Hypergammon-v0": "0f46fb00153effa9",
    "zermelo/Isolation-v0": "401ca4f706b7bbc6",
    "zermelo/Kalah-v0": "6e503f16df43e169",
    "zermelo/Kuhn-v0": "7064e5fa52088c78",
    "zermelo/Kuhn-v0(players=4)": "0f6c1ed02bf851d0",
    "zermelo/Leduc-v0": "b478511862778377",
    "zermelo/Leduc-v0(blinds=True)": "55b605f72f3b325f",
    "zermelo/LiarsDice-v0": "80178452e0db1a06",
    "zermelo/LiarsDice-v0(dice=3, sides=4)": "04c4e90fca835f69",
    "zermelo/MNK-v0": "5472a792a1ddbe50",
    "zermelo/Nim-v0": "21639ae6ecb6c736",
    "zermelo/Nim-v0(heaps=(200, 3, 9))": "db83284f513e626c",
    "zermelo/OrderAndChaos-v0": "2a24a5cec3fd255e",
    "zermelo/Othello-v0": "11385c13f98831ae",
    "zermelo/Oware-v0": "ed2a68a961f5cb57",
    "zermelo/Pentago-v0": "89fd0630a6d1576d",
    "zermelo/Pig-v0": "8f14ffcfc7943224",
    "zermelo/Pig-v0(target=300, players=3)": "c8316c4ff11d791c",
}


def digest(env_id):
    """A hash of all observations of a few random games, with their types and shapes."""
    live = make(env_id)
    live.reset(seed=0)
    game, generator, found = as_game(live), random.Random(env_id), hashlib.sha256()
    for _ in range(3):
        state = game.initial_state()
        for _ in range(60):
            for seat in range(game.traits.seats):
                seen = observation(game.rules, state, seat)
                found.update(f"{seen.dtype} {seen.shape}".encode() + np.ascontiguousarray(seen).tobytes())
            if game.is_terminal(state):
                break
            state = random_result(game, state, generator)
    return found.hexdigest()[:16]


@pytest.mark.parametrize("env_id", DIGESTS)
def test_observations_stay_what_they_were(env_id):
    assert digest(env_id) == DIGESTS[env_id]


def test_the_table_has_every_game():
    from zermelo.envs.registration.registry import OWN_ENVS

    missing = {env_id for env_id in OWN_ENVS if env_id.startswith("zermelo/")} - {
        env_id.partition("(")[0] for env_id in DIGESTS
    }
    assert not missing


class Wide(MNK):
    """Observations of a type that there is not."""

    def observation_box(self):
        return (3, 3, 2), (0, 1), "float32"


def test_types_are_those_of_integers():
    nim = Nim((200, 3))
    assert observation(nim, nim.initial_state(), 0).tolist() == [200, 3]
    assert observation(nim, nim.initial_state(), 0).dtype == np.int16
    rules = Wide()
    with pytest.raises(RulesError, match=r"Wide.observation_box must say 'int8', .* not 'float32'"):
        observation(rules, rules.initial_state(), 0)
