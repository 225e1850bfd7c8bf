"""Shapes of JSON values, and how they are put together.

A shape is a function that says whether a value fits; a member that is not there is given to it as `ABSENT`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

Shape = Callable[[Any], bool]

ABSENT = object()
_LARGEST_COUNT = 2**53 - 1  # up to here all languages count alike


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def number(value: Any) -> bool:
    """A number that 64 bits hold."""
    # In Python, True is a number.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_count(value: Any) -> bool:
    """A whole number of 0 or more."""
    return number(value) and 0 <= value <= _LARGEST_COUNT and value == int(value)


def json_value(value: Any) -> bool:
    """Anything, but it has to be there."""
    return value is not ABSENT


def json_object(value: Any) -> bool:
    """An object, whatever its members."""
    return isinstance(value, dict)


def true_or_absent(value: Any) -> bool:
    """True, where it is there."""
    return value is ABSENT or value is True


def one_of(*words: str) -> Shape:
    """One of these words."""
    return lambda value: isinstance(value, str) and value in words


def optional(shape: Shape) -> Shape:
    """What need not be there."""
    return lambda value: value is ABSENT or shape(value)


def nullable(shape: Shape) -> Shape:
    """What may be null."""
    return lambda value: value is None or shape(value)


def text_or(shape: Shape) -> Shape:
    """A text, or something else."""
    return lambda value: isinstance(value, str) or shape(value)


def count_or(shape: Shape) -> Shape:
    """A whole number of 0 or more, or something else that is no number."""
    return lambda value: is_count(value) if number(value) else shape(value)


def list_of(shape: Shape) -> Shape:
    """A list of what has one shape."""
    return lambda value: isinstance(value, list) and all(map(shape, value))


def having(**members: Shape) -> Shape:
    """An object with these members. Others, which no shape names, are kept and not looked at."""
    return lambda value: isinstance(value, dict) and all(
        shape(value.get(name, ABSENT)) for name, shape in members.items()
    )


def only(**members: Shape) -> Shape:
    """An object with these members, and no others."""
    fits = having(**members)
    return lambda value: fits(value) and value.keys() <= members.keys()


def by(tag: str, kinds: dict[str, Shape]) -> Shape:
    """An object whose kind is named by one of its members."""

    def shape(value: Any) -> bool:
        kind = value.get(tag) if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in kinds and kinds[kind](value)

    return shape


def is_plain(value: Any, levels: int) -> bool:
    """Whether a value is nested at most so many levels deep, and each language can hold it."""
    if not isinstance(value, (dict, list)):
        return value is None or isinstance(value, (str, bool)) or number(value)
    if levels == 0 or (isinstance(value, dict) and "__proto__" in value):
        return False
    members = value.values() if isinstance(value, dict) else value
    return all(is_plain(member, levels - 1) for member in members)
