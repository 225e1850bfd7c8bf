"""The tree of turns: closed turns have parents, and the conversation is the path from the beginning to the head.

Turn `n` is at index `n - 1` of `turns`, on the path or off it; 0 stands for the beginning, the seed.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from chunks import at, replace_at
from messages import Message, tool_result_of
from text import utf16_length

Thread = dict[str, Any]
Turn = dict[str, Any]


def turn_of(thread: Thread, number: int) -> Optional[Turn]:
    """The closed turn of a number; None when there is none."""
    return at(thread["turns"], number - 1)


def change_turn(thread: Thread, number: int, change: Callable[[Turn], Turn]) -> Thread:
    """The thread with another turn in the place of one; the same thread where there is none of that number."""
    turn = turn_of(thread, number)
    return thread if turn is None else {**thread, "turns": replace_at(thread["turns"], number - 1, change(turn))}


def turns_on_path(thread: Thread) -> list[Turn]:
    """The closed turns on the path, oldest first."""
    path: list[Turn] = []
    turn = turn_of(thread, thread["head"])
    while turn is not None:
        path.append(turn)
        turn = turn_of(thread, turn["parent"])
    return path[::-1]


def is_on_path(thread: Thread, number: int) -> bool:
    """Whether a closed turn is on the path; 0, the beginning, always is."""
    return is_before(thread, number, thread["head"])


def is_before(thread: Thread, number: int, last: int) -> bool:
    """Whether a closed turn is another one, or on the path that leads to it."""
    if number == 0:
        return True
    turn = turn_of(thread, last)
    # Parents have smaller numbers. `straightFrom` steps over turns whose numbers follow one another.
    while turn is not None and turn["number"] >= number:
        first = turn["place"]["straightFrom"]
        if first <= number:
            return True
        begin = turn_of(thread, first)
        turn = turn_of(thread, begin["parent"] if begin is not None else 0)
    return False


def is_thread_empty(thread: Thread) -> bool:
    """Whether a model would be shown nothing at all of it. A turn that was cancelled may have no message."""
    if thread["system"] is not None or thread["seed"] or thread["appended"]:
        return False
    return all(turn["messages"]["length"] == 0 for turn in turns_on_path(thread))


def place_after(thread: Thread, parent: int, number: int, messages: list[Message]) -> dict[str, int]:
    """Where a turn stands that follows another one: what the path comes to with it, the seed included."""
    parent_turn = turn_of(thread, parent)
    before = {"turns": 0, **size_of(thread["seed"])} if parent_turn is None else parent_turn["place"]
    added = size_of(messages)
    follows = parent_turn is not None and parent == number - 1
    return {
        "turns": before["turns"] + 1,
        "messages": before["messages"] + added["messages"],
        "characters": before["characters"] + added["characters"],
        "straightFrom": before["straightFrom"] if follows else number,
    }


def size_of(messages: list[Message]) -> dict[str, int]:
    """How many messages, and how many characters their texts have, in UTF-16 units."""
    return {"messages": len(messages), "characters": sum(map(_text_length_of, messages))}


def size_of_path(thread: Thread) -> dict[str, int]:
    """What a thread comes to on its path: closed turns, the seed and what waits to lead the next turn."""
    head = turn_of(thread, thread["head"])
    closed = {"turns": 0, **size_of(thread["seed"])} if head is None else head["place"]
    waiting = size_of(thread["appended"])
    cut = sum(each["characters"] for each in thread["shortened"] if is_on_path(thread, each["turn"]))
    return {
        "turns": closed["turns"],
        "messages": closed["messages"] + waiting["messages"],
        "characters": closed["characters"] + waiting["characters"] - cut,
    }


def with_appended(thread: Thread, messages: list[Message]) -> Thread:
    """The thread with more appended."""
    appended = [*thread["appended"], *messages]
    return {**thread, "appended": appended, "appendedCharacters": size_of(appended)["characters"]}


def without_appended(thread: Thread) -> Thread:
    """The thread with nothing appended: it went into a turn. `appendedCharacters` is absent then, not 0."""
    return {**{name: value for name, value in thread.items() if name != "appendedCharacters"}, "appended": []}


def _text_length_of(message: Message) -> int:
    result = tool_result_of(message) if message["role"] == "tool" else None
    parts = message["parts"] if result is None else result["content"]
    return sum(utf16_length(part["text"]) for part in parts if part["type"] == "text")
