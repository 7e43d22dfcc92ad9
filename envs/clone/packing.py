"""Environments, and what holds them, as bytes that another process reads.

Objects of Python classes are sent as what they hold, whatever their class says of pickling (``EzPickle`` would
lose the game). What C code made is pickled, functions without a name are sent by value, and what only draws is
left out.
"""

from __future__ import annotations

import contextlib
import io
import pickle
from typing import Any, Final

import cloudpickle

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import instance_dict, is_display_type, is_shared_type, layout_of, refusal
from zermelo.envs.clone.saved_states.stand_ins import StandIn
from zermelo.envs.errors import CloneError

NOT_PACKED: Final = (CloneError, TypeError, ValueError, AttributeError, pickle.PicklingError, RecursionError)
"""What ``packed`` raises where something cannot be sent."""


def packed(value: Any) -> bytes:
    """An object as bytes, for ``pickle.loads``."""
    buffer = io.BytesIO()
    _Packer(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    def reducer_override(self, obj: Any) -> Any:
        cls = type(obj)
        if is_display_type(cls):
            return _nothing, ()
        if isinstance(obj, type) or issubclass(cls, StandIn) or is_shared_type(cls):
            return super().reducer_override(obj)
        layout = layout_of(cls)
        if layout.base is not object or refusal(cls) is not None:
            return super().reducer_override(obj)
        slots = {}
        for slot in layout.slots:
            with contextlib.suppress(AttributeError):  # never set
                slots[slot.__name__] = slot.__objclass__, slot.__get__(obj)
        return object.__new__, (original_class(cls),), (instance_dict(obj), slots), None, None, _fill


def _fill(obj: Any, state: tuple[dict[str, Any] | None, dict[str, tuple[type, Any]]]) -> None:
    attributes, slots = state
    if (own := instance_dict(obj)) is not None:
        own.update(attributes or {})
    for name, (owner, value) in slots.items():
        vars(owner)[name].__set__(obj, value)


def _nothing() -> None:
    pass
