"""What is said in a thread, or changed about it, without a model."""

from __future__ import annotations

import re
from typing import Any, Optional

from chunks import append, append_all, at as element_at, chunks_of, replace_at, to_array
from messages import (
    Message,
    SeedError,
    message_from_draft,
    message_from_reply,
    message_from_result,
    messages_from_seed,
    system_message,
    text_of,
    tool_calls_of,
    with_parts,
)
from plan import Plan, no_effects
from text import trimmed, utf16_length, utf16_prefix
from tree import Thread, Turn, change_turn, place_after, turn_of, with_appended, without_appended
from turn_closing import drop
from usage import add_usage, no_usage

Data = dict[str, Any]
Event = dict[str, Any]

ROUND_MARK = ".r"
"""In the ids of the calls of an appended round, between turn and message: no call of a step has it."""


def append_message(data: Data, draft: dict[str, Any]) -> Data:
    """A message joins the thread: at once where nothing is out, else at the next gap."""
    turn, made = _next_place(data)
    return _appended(data, [message_from_draft(f"{turn}.{made}", draft)])


def append_round(data: Data, event: Event) -> Data:
    """As above, of a round: a reply with tool calls, and a result for each."""
    turn, made = _next_place(data)
    said = message_from_reply(f"{turn}.{made}", f"{turn}{ROUND_MARK}{made}", event["reply"])
    if "metadata" in event:
        said = {**said, "metadata": event["metadata"]}
    calls, results = tool_calls_of(said), event["results"]
    # What lacks a result is refused; in a journal that holds one all the same it is unknown.
    missing = [{"outcome": "unknown", "content": None}] * len(calls)
    answers = [
        message_from_result(call, result["outcome"], result["content"])
        for call, result in zip(calls, [*results, *missing])
    ]
    return _appended(data, [said, *answers])


def change_system(thread: Thread, system: Any) -> Thread:
    """The system prompt is another, or none. Calls that are out keep the one they were sent with."""
    systems = thread["systems"] + 1
    return {**thread, "systems": systems, "system": None if system is None else system_message(systems, system)}


def reset_system(thread: Thread) -> Thread:
    """The system prompt is the one that the thread began with, under an id of its own."""
    systems, first = thread["systems"] + 1, thread["firstSystem"]
    return {**thread, "systems": systems, "system": None if first is None else {**first, "id": f"s{systems}"}}


def add_turn(thread: Thread, event: Event) -> Thread:
    """A turn written by hand joins the tree, led by what was appended; the head moves to it."""
    appended = thread["appended"]
    try:
        written = messages_from_seed(thread["turns"]["length"] + 1, event["messages"], len(appended))
    except SeedError:
        # Such drafts are refused; a journal that holds some all the same keeps the turn, without them.
        written = []
    return _closed_turn(thread, [*appended, *written], event["at"], event.get("metadata"))


def seal_appended(thread: Thread, at: int) -> Thread:
    """What was appended since the last turn becomes a turn of its own, so that the head can move without losing it."""
    return _closed_turn(thread, thread["appended"], at, None) if thread["appended"] else thread


def move_head(thread: Thread, at: int, to: Any) -> Thread:
    """The head moves, to a turn or to a checkpoint; where there is none it stays."""
    sealed = seal_appended(thread, at)
    number = sealed["checkpoints"].get(to["checkpoint"], -1) if isinstance(to, dict) else to
    return {**sealed, "head": number} if number == 0 or turn_of(sealed, number) is not None else sealed


def moved_for(data: Data, event: Event) -> Data:
    """The thread as an ask finds it that says where its turn opens."""
    if "from" not in event:
        return data
    return {**data, "conversation": move_head(data["conversation"], event["at"], event["from"])}


def name_checkpoint(thread: Thread, name: str, at: int) -> Thread:
    """The present head gets a name."""
    sealed = seal_appended(thread, at)
    return {**sealed, "checkpoints": {**sealed["checkpoints"], name: sealed["head"]}}


def annotate(thread: Thread, event: Event) -> Thread:
    """Something is said about a turn."""
    annotation = {name: event[name] for name in ("name", "value", "at", "metadata") if name in event}
    return change_turn(
        thread, event["turn"], lambda turn: {**turn, "annotations": [*turn.get("annotations", []), annotation]}
    )


def truncate_answer(thread: Thread, number: int, kept: int) -> Thread:
    """A turn's last answer keeps so many UTF-16 units of its text."""
    turn = turn_of(thread, number)
    index = -1 if turn is None else answer_index_of(turn)
    if index < 0:
        return thread
    answer = element_at(turn["messages"], index)
    spoken = _truncated(answer, kept)
    messages = replace_at(turn["messages"], index, spoken)
    changed = change_turn(thread, number, lambda _: {**turn, "messages": messages})
    return _shortened(changed, number, utf16_length(text_of(answer)) - utf16_length(text_of(spoken)))


def pin_message(thread: Thread, event: Event) -> Thread:
    """A message is pinned, or no longer. The number in front of its id is that of its turn."""
    message = event["message"]
    number = re.match(r"\s*([+-]?\d+)", message)
    if number is None:
        return thread
    others = [pin for pin in thread["pins"] if pin["message"] != message]
    return {**thread, "pins": [*others, {"turn": int(number[1]), "message": message}] if event["pinned"] else others}


def answer_index_of(turn: Turn) -> int:
    """Where the message is with which a model ended a turn; -1 when it has none."""
    ids = [message["id"] for message in to_array(turn["messages"])]
    return ids.index(turn["answer"]) if turn.get("answer") in ids else -1


def _next_place(data: Data) -> tuple[int, int]:
    """The turn that what is said next is part of, and how many messages it made before."""
    turn, thread = data["open"], data["conversation"]
    return (thread["turns"]["length"] + 1, len(thread["appended"])) if turn is None else (turn["number"], turn["made"])


def _appended(data: Data, messages: list[Message]) -> Data:
    turn = data["open"]
    if turn is None:
        return {**data, "conversation": with_appended(data["conversation"], messages)}
    # A round counts as one message made: its results have the ids of their calls.
    made = turn["made"] + 1
    if turn["stage"]["type"] in ("backing_off", "compacting"):
        return {**data, "open": {**turn, "made": made, "messages": append_all(turn["messages"], messages)}}
    return {**data, "open": {**turn, "made": made, "waiting": [*turn["waiting"], *messages]}}


def _closed_turn(thread: Thread, messages: list[Message], at: int, metadata: Optional[dict[str, Any]]) -> Thread:
    number = thread["turns"]["length"] + 1
    answers = [message["id"] for message in messages if message["role"] == "assistant" and not tool_calls_of(message)]
    turn = {
        "number": number,
        "parent": thread["head"],
        "asks": [],
        "outcome": {"status": "completed", "finishReason": None},
        "messages": chunks_of(messages),
        "usage": no_usage(),
        "steps": 0,
        "toolCalls": 0,
        "startedAt": at,
        "endedAt": at,
        "place": place_after(thread, thread["head"], number, messages),
        **({"answer": answers[-1]} if answers else {}),
        **({} if metadata is None else {"metadata": metadata}),
    }
    return {**without_appended(thread), "turns": append(thread["turns"], turn), "head": number}


def _truncated(answer: Message, kept: int) -> Message:
    parts, left = [], kept
    for part in answer["parts"]:
        if part["type"] != "text":
            parts.append(part)
            continue
        if left > 0:
            parts.append({**part, "text": utf16_prefix(part["text"], left)})
        left -= utf16_length(part["text"])
    # Of an answer that was truncated before, the length that it had at first.
    characters = answer["truncated"]["characters"] if "truncated" in answer else utf16_length(text_of(answer))
    return {**with_parts(answer, parts), "truncated": {"characters": characters}}


def _shortened(thread: Thread, number: int, characters: int) -> Thread:
    """A turn became shorter, and with it every path that goes through it.

    The newest turn says so itself; of an older one the thread does, so that no turn after it has to change.
    """
    if number == thread["turns"]["length"]:

        def change(turn: Turn) -> Turn:
            place = turn["place"]
            return {**turn, "place": {**place, "characters": place["characters"] - characters}}

        return change_turn(thread, number, change)
    before = sum(each["characters"] for each in thread["shortened"] if each["turn"] == number)
    others = [each for each in thread["shortened"] if each["turn"] != number]
    return {**thread, "shortened": [*others, {"turn": number, "characters": before + characters}]}


REDACTED_TEXT = "[redacted]"


def fork_data(data: Data, event: dict[str, Any]) -> Plan:
    """A copy begins where another thread was: whatever was under way or waited there stays behind.

    Nothing is cancelled, since nothing of it is done here.
    """
    turn, usage = data["open"], data["usage"]
    asks = list(data["queue"])
    arrow = "stays"
    if turn is not None:
        asks = [*({"askId": ask["askId"], "at": ask["askedAt"]} for ask in turn["asks"]), *turn["joining"], *asks]
        # What a turn used that is none of the copy was used all the same.
        usage = {**usage, "betweenTurns": add_usage(usage["betweenTurns"], turn["usage"])}
        head = turn_of(data["conversation"], data["conversation"]["head"])
        arrow = "completed" if head is None or head["outcome"]["status"] == "completed" else "error"
    after = {
        **drop(data, asks, "left", event["at"]),
        "open": None,
        "queue": [],
        "waking": None,
        "summarising": None,
        "usage": usage,
        "forkedFrom": event["from"],
    }
    return Plan(after, arrow, no_effects)


def redact_data(data: Data) -> Data:
    """Words were taken out of the journal: what was measured was measured of others, and a summary of none is stale.

    The words themselves go with the entries that are rewritten: whoever folds those has a state without them.
    """
    thread = data["conversation"]
    for turn in to_array(thread["turns"]):
        if any(_says_nothing(summary["text"]) and "stale" not in summary for summary in turn.get("summaries", [])):
            thread = change_turn(thread, turn["number"], _withdrawn)
    return {**data, "measured": None, "conversation": thread}


def _says_nothing(text: str) -> bool:
    # A summary may have been written in several parts.
    return REDACTED_TEXT in text and trimmed(text.replace(REDACTED_TEXT, "")) == ""


def _withdrawn(turn: Turn) -> Turn:
    summaries = turn.get("summaries", [])
    return {
        **turn,
        "summaries": [{**each, "stale": True} if _says_nothing(each["text"]) else each for each in summaries],
    }
