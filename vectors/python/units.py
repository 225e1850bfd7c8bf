"""What a prompt shows or leaves out as a whole: a round of tools, or one message outside rounds."""

from __future__ import annotations

from typing import Any, NamedTuple

from messages import Message, tool_calls_of


class Unit(NamedTuple):
    """One assistant message with its calls and all of their results; or one other message."""

    turn: int
    """0 for the seed."""
    position: int
    """Its place in the turn, from 0."""
    messages: list[Message]


def units_of(turn: int, messages: list[Message]) -> list[Unit]:
    """The units of a turn's messages, in order."""
    units: list[Unit] = []
    index = 0
    while index < len(messages):
        end = index + 1
        calls = len(tool_calls_of(messages[index])) if messages[index]["role"] == "assistant" else 0
        # A round ends with its last result: nothing that follows belongs to it.
        while end < len(messages) and end - index <= calls and messages[end]["role"] == "tool":
            end += 1
        units.append(Unit(turn, len(units), messages[index:end]))
        index = end
    return units


def is_older(position: dict[str, int], than: dict[str, int]) -> bool:
    """Whether a place, a turn and a unit of it, is before another one."""
    return (position["turn"], position["unit"]) < (than["turn"], than["unit"])
