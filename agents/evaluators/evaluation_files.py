"""Files of evaluations that ``zermelo tune`` writes."""

from __future__ import annotations

import msgspec

from zermelo.agents.evaluators.fitted.network import NetworkEvaluator, StoredNetwork
from zermelo.agents.evaluators.fitted_linear import FittedLinear, StoredLinear
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import read_file


def load_evaluation(path: str, features: str = "") -> FittedLinear | NetworkEvaluator:
    """Reads the evaluation in a file.

    ``features`` is the ``"module:name"`` of features of your own: what a file names is imported only if it is
    given here too.

    Raises:
        InvalidSettingError: There is no such file, or it is no evaluation.
    """
    try:
        stored = msgspec.json.decode(read_file(path), type=StoredLinear | StoredNetwork)
        return stored.evaluator(path) if isinstance(stored, StoredNetwork) else stored.evaluator(path, features)
    except FileNotFoundError:
        raise InvalidSettingError(f"there is no file {path}: zermelo tune writes one") from None
    except (ValueError, OSError, RecursionError) as error:
        raise InvalidSettingError(f"{path} is no evaluation that zermelo tune wrote: {error}") from None
