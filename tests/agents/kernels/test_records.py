"""Records of kernels: NumPy sees the layout that Python writes to, and nothing else can be written."""

from __future__ import annotations

import numpy as np
import pytest

from zermelo.agents.kernels.layout import KernelRecord, SharedRecord, ValueRecord, dtype_of
from zermelo.agents.monte_carlo.compiled.record import MonteCarloRecord
from zermelo.agents.solving.proof_numbers import NumbersRecord
from zermelo.agents.training.vectors.games import Games
from zermelo.agents.tree_search.compiled.record import GeneralRecord, MaxNRecord, TreeRecord, TwoPlayerRecord
from zermelo.agents.tree_search.exact.prover import ProverRecord

LEAVES = [TwoPlayerRecord, GeneralRecord, MaxNRecord, MonteCarloRecord, ProverRecord, NumbersRecord]
BASES = [KernelRecord, ValueRecord, TreeRecord]


@pytest.mark.parametrize("record", [*LEAVES, *BASES, Games])
def test_numpy_sees_the_layout_that_python_writes_to(record: type[SharedRecord]) -> None:
    made, layout = record(), dtype_of(record)
    names = layout.names or ()
    for number, name in enumerate(names):
        setattr(made, name, number)
    assert np.frombuffer(made, layout)[0].tolist() == tuple(range(len(names)))


@pytest.mark.parametrize("record", LEAVES)
def test_a_record_begins_with_the_fields_of_its_base(record: type[SharedRecord]) -> None:
    own, base = dtype_of(record).names or (), dtype_of(record.__mro__[1]).names or ()
    assert own[: len(base)] == base
    assert len(own) == len({*own}) > len(base)


def test_a_name_that_is_no_field_is_refused() -> None:
    prover = ProverRecord()
    with pytest.raises(AttributeError, match="killers"):
        prover.attach("killers", np.zeros(2, np.int64))
    with pytest.raises(AttributeError, match="killers"):
        prover.killers = 1
    numbers = np.zeros(2, np.int64)
    prover.attach("table", numbers)
    assert prover.table == numbers.ctypes.data
