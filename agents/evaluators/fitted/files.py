"""The files of ``zermelo tune``, which hold data only."""

from __future__ import annotations

import msgspec
import numpy as np

from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator, StoredPatterns
from zermelo.agents.evaluators.fitted.feature_sets import check_source
from zermelo.agents.evaluators.fitted.network import NetworkEvaluator, StoredNetwork
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import read_file


def load_evaluation(path: str, features: str = "") -> FittedEvaluator | NetworkEvaluator:
    """Reads the evaluation in a file.

    ``features`` is the ``"module:name"`` of features of somebody's own: what a file names is not imported
    unless it is named here too.
    """
    try:
        stored = msgspec.json.decode(read_file(path), type=StoredPatterns | StoredNetwork)
        if isinstance(stored, StoredNetwork):
            return stored.evaluator(path)
        check_source(stored.features, features)
        return FittedEvaluator(stored.features, np.array(stored.weights), path, stored.bounds)
    except FileNotFoundError:
        raise InvalidSettingError(f"there is no file {path}: zermelo tune writes one") from None
    except (ValueError, OSError, RecursionError) as error:
        raise InvalidSettingError(f"{path} is no evaluation that zermelo tune wrote: {error}") from None
