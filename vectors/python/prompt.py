"""The messages that a cut shows.

A cut is what a policy decided: where the prompt begins (`from`, a turn and a unit of it; null: at the beginning),
and whether turns that were cancelled or failed are left out (`interrupted`). Cuts of other policies than `keep-all`
and `last-turns` have more members; this machine does not know them, and says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from chunks import to_array
from messages import Message, tool_calls_of
from tree import Thread, Turn, turns_on_path


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


Cut = dict[str, Any]

_KNOWN_MEMBERS = {"policy", "from", "interrupted"}


def render(thread: Thread, cut: Cut, system: Optional[Message], open_messages: list[Message]) -> list[Message]:
    """The prompt of a model call: the system message, what the cut shows of the closed turns, the open turn."""
    return ([] if system is None else [system]) + _shown_closed(thread, cut, open_messages) + open_messages


def _shown_closed(thread: Thread, cut: Cut, open_messages: Optional[list[Message]]) -> list[Message]:
    """What a prompt shows of the closed turns. Without an open turn (None), the question is not asked yet.

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
    led = _with_questions(units, shown, pinned)
    lead = _lead(blocks, units, led, cut, open_messages)
    return [message for index in sorted(led | lead) for message in units[index][0].messages]


def _lead(
    blocks: list[tuple[int, list[Message], bool]],
    units: list[tuple[Unit, bool]],
    led: set[int],
    cut: Cut,
    open_messages: Optional[list[Message]],
) -> set[int]:
    """The question that leads a prompt: the nearest one before what would begin it, if that is a model's.

    It also leads a prompt that begins with a turn in which nothing is said, since what follows may be a model's.
    """
    first = next((index for index in sorted(led) if not _is_aside(_role(units[index][0]))), None)
    role = None if first is None else _role(units[first][0])
    if first is None:
        role = next((one["role"] for one in open_messages or [] if not _is_aside(one["role"])), None)
    if role is not None and role != "user":
        return _at(_question_before(units, len(units) if first is None else first))
    silent = _silent_start(blocks, units, led, cut, open_messages)
    is_earlier = first is not None and silent is not None and first < silent
    return set() if silent is None or is_earlier else _at(_question_before(units, silent))


def _silent_start(
    blocks: list[tuple[int, list[Message], bool]],
    units: list[tuple[Unit, bool]],
    led: set[int],
    cut: Cut,
    open_messages: Optional[list[Message]],
) -> Optional[int]:
    """Where the first turn of a prompt begins among the units, if all that is shown of it are appended messages."""
    for number, messages, left_out in blocks:
        if left_out or (cut["from"] is not None and number < cut["from"]["turn"]):
            continue
        shown = [index for index in sorted(led) if units[index][0].turn == number]
        if shown:
            return shown[0] if all(_is_aside(_role(units[index][0])) for index in shown) else None
        if number > 0 and not messages:
            # The path ascends, so all units of earlier turns are before it.
            return sum(unit.turn < number for unit, _ in units)
    if open_messages is None or any(not _is_aside(message["role"]) for message in open_messages):
        return None
    return len(units)


def _at(index: Optional[int]) -> set[int]:
    return set() if index is None else {index}


def _with_questions(units: list[tuple[Unit, bool]], shown: set[int], pinned: set[str]) -> set[int]:
    """What is shown, with the questions that go with it, since servers refuse a prompt that begins with a model's words.

    The question of a turn, its first user message, is shown with whatever of the turn is behind it. What a model said is
    led by the nearest question before it where it is pinned in a turn without one. Of a turn that is left out, that is
    a question that is shown anyway.
    """
    own = {index: _own_question(units, index) for index in shown}
    led = shown | {question for question in own.values() if question is not None}
    before = set()
    for index in shown:
        is_pinned = any(message["id"] in pinned for message in units[index][0].messages)
        if own[index] is None and is_pinned and _role(units[index][0]) == "assistant":
            before |= _at(_question_before(units, index, led))
    return led | before


def _own_question(units: list[tuple[Unit, bool]], index: int) -> Optional[int]:
    """The first user message of a unit's own turn, where that is before it. In the seed each answer has its own."""
    turn = units[index][0].turn
    own = (other for other in range(index) if units[other][0].turn == turn and _role(units[other][0]) == "user")
    return None if turn == 0 else next(own, None)


def _question_before(
    units: list[tuple[Unit, bool]], index: int, shown: frozenset[int] | set[int] = frozenset()
) -> Optional[int]:
    """The nearest question of an earlier turn that is not left out or is shown; or in the seed, the nearest user message."""
    for other in reversed(range(index)):
        unit, left_out = units[other]
        is_seen = not left_out or other in shown
        if _role(unit) == "user" and is_seen and _own_question(units, other) is None:
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


Start = Optional[dict[str, int]]
"""Where a prompt begins; None for the beginning of the thread."""

# Behind all closed turns, those to come included. The number is the largest that JavaScript counts to.
NOWHERE = {"turn": 2**53 - 1, "unit": 0}


def decide_cut(policy: dict[str, Any], interrupted: str, thread: Thread, last_cut: Optional[Cut]) -> Cut:
    """What a policy shows of the closed turns. `last_cut` is what it decided last, or another policy did."""
    return {
        "policy": f"{policy['name']}@{policy['version']}",
        "from": _start(policy, _numbers_newest_first(thread, interrupted), last_cut),
        "interrupted": interrupted,
    }


def showing_something(cut: Cut, thread: Thread) -> tuple[Cut, Optional[str]]:
    """The cut for a turn that has no message yet, and why it is not the policy's own.

    An ask that says nothing lives from what is shown of the thread. Where a policy shows none of it, all is shown;
    but a thread that holds nothing is asked with its system message alone.
    """
    everything = {"policy": "keep-all@1", "from": None, "interrupted": "keep"}
    if _shown_closed(thread, cut, None) or not _shown_closed(thread, everything, None):
        return cut, None
    return everything, f"{cut['policy']} shows nothing of the thread, and the ask says nothing itself"


def same_cut(left: Optional[Cut], right: Cut) -> bool:
    """Whether two cuts show the same: how they were calibrated is no part of it."""
    return left is not None and {**left, "calibration": 1} == {**right, "calibration": 1}


def _start(policy: dict[str, Any], numbers: list[int], last_cut: Optional[Cut]) -> Start:
    if policy["name"] == "keep-all":
        return None
    count, slack = policy["options"]["count"], policy["options"].get("slack", 0)
    if slack == 0:
        # Of no turns: behind all that will ever be closed, so that the cut need not move with each turn.
        return NOWHERE if count == 0 and numbers else _newest(numbers, count)
    last = None if last_cut is None else last_cut["from"]
    return _settled(last, _newest(numbers, count + slack), _newest(numbers, count))


def _numbers_newest_first(thread: Thread, interrupted: str) -> list[int]:
    """The turns that a policy looks at; the seed counts as the oldest."""
    shown = [turn["number"] for turn in turns_on_path(thread) if not is_left_out(turn, interrupted)]
    return [*reversed(shown), *([0] if thread["seed"] else [])]


def _newest(numbers: list[int], count: int) -> Start:
    """Where the newest turns begin; of none, right behind the newest."""
    if len(numbers) <= count:
        return None
    return {"turn": numbers[count - 1] if count > 0 else numbers[0] + 1, "unit": 0}


def _settled(last: Start, most: Start, least: Start) -> Start:
    """Where a window with slack begins: where it did, until that would show too much; then it shows the least.

    A cut that shows even less than that (the head was moved) is no reason to stay.
    """
    if _shows_more(last, most):
        return least
    if _shows_more(least, last):
        return None if most is None else least
    return last


def _shows_more(start: Start, than: Start) -> bool:
    return than is not None and (start is None or is_older(start, than))
