"""Whole numbers as Python's callers have them: int, and numpy's."""

from __future__ import annotations

import operator
import reprlib
from typing import Any

from ._errors import InvalidArgument


def shown(value: Any) -> str:
    """A value as a sentence names it: shortened where it is long."""
    return reprlib.repr(value)


def whole(value: Any, what: str) -> int:
    """A whole number as an int. Raises InvalidArgument, naming `what` it is, for anything else: a bool too."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise InvalidArgument(f"{what} is a whole number, not {shown(value)}.")
