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
    blocks = _closed(thread, cut)
    units = [(unit, left_out) for number, messages, left_out in blocks for unit in units_of(number, messages)]
    pinned = {pin["message"] for pin in thread["pins"]}
    shown = {
        index
        for index, (unit, left_out) in enumerate(units)
        if not (left_out or _is_cut_off(unit, cut)) or any(message["id"] in pinned for message in unit.messages)
    }
    led = _with_questions(units, shown, pinned, open_messages)
    said = [message for index in sorted(led) for message in units[index][0].messages]
    return ([] if system is None else [system]) + said + open_messages


def _with_questions(
    units: list[tuple[Unit, bool]], shown: set[int], pinned: set[str], open_messages: list[Message]
) -> set[int]:
    """What is shown, with the questions that go with it, since servers refuse a prompt that begins with a model's words.

    The question of a turn, its first user message, is shown with whatever of the turn is behind it. What a model said is
    led by the nearest question before it where it is pinned in a turn without one, or where the prompt would begin with it.
    """
    led = set(shown)
    for index in shown:
        question = _own_question(units, index)
        is_pinned = any(message["id"] in pinned for message in units[index][0].messages)
        if question is None and is_pinned and _role(units[index][0]) == "assistant":
            question = _question_before(units, index)
        if question is not None:
            led.add(question)
    first = next((index for index in sorted(led) if not _is_aside(_role(units[index][0]))), len(units))
    if first < len(units):
        role = _role(units[first][0])
    else:
        # Nothing was said that is shown, but in the open turn.
        role = next((message["role"] for message in open_messages if not _is_aside(message["role"])), "user")
    lead = None if role == "user" else _question_before(units, first)
    return led if lead is None else led | {lead}


def _own_question(units: list[tuple[Unit, bool]], index: int) -> Optional[int]:
    """The first user message of a unit's own turn, where that is before it. In the seed each answer has its own."""
    turn = units[index][0].turn
    own = (other for other in range(index) if units[other][0].turn == turn and _role(units[other][0]) == "user")
    return None if turn == 0 else next(own, None)


def _question_before(units: list[tuple[Unit, bool]], index: int) -> Optional[int]:
    """The nearest question of an earlier turn that is not left out; or in the seed, the nearest user message."""
    for other in reversed(range(index)):
        unit, left_out = units[other]
        if _role(unit) == "user" and not left_out and _own_question(units, other) is None:
            return other
    return None


def _role(unit: Unit) -> str:
    return unit.messages[0]["role"]


def _is_aside(role: str) -> bool:
    return role in ("system", "developer")


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
