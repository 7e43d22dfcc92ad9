"""Results as text and as data."""

import json

import numpy as np

from zermelo.agents import SearchResult
from zermelo.agents.base.limits import StoppedBy


def result(**changes):
    settings = {
        "action": 3, "env_action": np.int64(3), "value": 0.25, "values_by_seat": (0.25, -0.25), "nodes": 1200,
        "depth": 4, "seconds": 0.5, "principal_variation": (3, 1), "action_values": {3: 0.25, 1: -1.0},
        "stopped_by": StoppedBy.DEPTH,
    }  # fmt: skip
    return SearchResult(**(settings | changes))


def test_a_printed_result_has_three_lines():
    assert str(result()) == (
        "action 3; principal variation 3 1\nvalue 0.25 for the player to move, not proven\n"
        "1,200 nodes, depth 4, 0.50 s, plain Python; stopped by: depth"
    )
    assert str(result(proven=True, method="mcts: no evaluation", compiled=True)).splitlines()[0] == (
        "action 3 by mcts: no evaluation; principal variation 3 1"
    )
    assert "estimated from samples" in str(result(is_estimate=True))


def test_a_principal_variation_is_cut_at_a_line():
    long = tuple(range(1500))
    head = str(result(principal_variation=long)).splitlines()[0]
    assert head.startswith("action 3; principal variation 0 1 2 3 ")
    assert head.endswith(" and 1,464 more")
    assert len(head) < 150
    assert repr(result(principal_variation=long)) == "<SearchResult: action 3, value 0.25, not proven>"


def test_a_result_is_written_as_json_and_read_back():
    written = json.loads(json.dumps(result(env_action=np.array([1, 2])).to_dict()))
    assert written["env_action"] == [1, 2]
    assert written["action_values"] == {"3": 0.25, "1": -1.0}
    assert written["stopped_by"] == "depth"
    assert written["values_by_seat"] == [0.25, -0.25]
    assert result().to_dict().keys() == {field.name for field in SearchResult.__dataclass_fields__.values()}
