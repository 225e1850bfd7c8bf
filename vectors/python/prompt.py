"""The messages that a cut shows.

A cut is what a policy decided: where the prompt begins (`from`, a turn and a unit of it; null: at the beginning),
and whether turns that were cancelled or failed are left out (`interrupted`). Cuts of other policies than `keep-all`
and `last-turns` have more members; this machine does not know them, and says so.
"""

from __future__ import annotations

from typing import Any, Optional

from chunks import to_array
from messages import Message
from tree import Thread, Turn, turns_on_path
from units import Unit, is_older, units_of

Cut = dict[str, Any]

_KNOWN_MEMBERS = {"policy", "from", "interrupted"}


def render(thread: Thread, cut: Cut, system: Optional[Message], open_messages: list[Message]) -> list[Message]:
    """The prompt of a model call: the system message, what the cut shows of the closed turns, the open turn.

    What is pinned is shown whatever the cut leaves out, at its place, and with the whole of its round. So units are
    shown or left out whole, and a prompt is as well-formed as the thread.
    """
    unknown = cut.keys() - _KNOWN_MEMBERS
    if unknown:
        raise NotImplementedError(f"a cut with {', '.join(sorted(unknown))} is of a policy that is not here")
    pinned = {pin["message"] for pin in thread["pins"]}
    shown = [] if system is None else [system]
    for number, messages, left_out in _closed(thread, cut):
        for unit in units_of(number, messages):
            is_pinned = any(message["id"] in pinned for message in unit.messages)
            if is_pinned or not (left_out or _is_cut_off(unit, cut)):
                shown += unit.messages
    return shown + open_messages


def is_left_out(turn: Turn, interrupted: str) -> bool:
    """Whether a closed turn is left out because it was cancelled or failed."""
    return interrupted == "omit" and turn["outcome"]["status"] != "completed"


def _closed(thread: Thread, cut: Cut) -> list[tuple[int, list[Message], bool]]:
    """The seed, which is turn 0, and the closed turns of the path: their messages, and whether they are left out."""
    turns = turns_on_path(thread)
    closed = [(turn["number"], to_array(turn["messages"]), is_left_out(turn, cut["interrupted"])) for turn in turns]
    return [(0, thread["seed"], False), *closed]


def _is_cut_off(unit: Unit, cut: Cut) -> bool:
    return cut["from"] is not None and is_older({"turn": unit.turn, "unit": unit.position}, cut["from"])
