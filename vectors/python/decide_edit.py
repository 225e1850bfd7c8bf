"""Whether an event fits in which the configuration has no say: what is cancelled, said, or changed without a model."""

from __future__ import annotations

from typing import Any, Optional

from asks import drafts_of, is_shared
from chunks import at, to_array
from decide_outcome import interrupted_results
from edits import answer_index_of, change_system, reset_system
from messages import Message, SeedError, messages_from_seed, text_of
from same_ask import is_among
from settings import Refused
from text import units_of_characters
from tree import is_thread_empty, turn_of, turns_on_path


def problem_of_calls(drafts: list[dict[str, Any]], may_call: bool) -> Optional[str]:
    """Where a message would lose its tool calls; None where none would.

    Looks at the names of the chat format too: who has them would think that they are understood.
    """
    for index, draft in enumerate(drafts):
        foreign = next((name for name in ("tool_calls", "function_call") if _is_given(draft, name)), None)
        if foreign is not None:
            return f'message {index} has "{foreign}", which is the chat format\'s name'
        if _is_given(draft, "toolCalls") and not (draft["role"] == "assistant" and may_call):
            return f"message {index} has toolCalls, which would be lost here"
    return None


def _is_given(draft: dict[str, Any], name: str) -> bool:
    # An empty text is given: it is no list without calls.
    return draft.get(name) not in (None, [])


Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]

_NOT_WHILE_ANSWERING = ("turn.added", "answer.truncated", "head.moved", "checkpoint.named", "thread.redacted")


def decide_edit(data: Data, event: Event) -> Decided:
    """What is to be known about the event; empty for most. Raises Refused."""
    kind = event["type"]
    if kind in _NOT_WHILE_ANSWERING and turn_answering(data) is not None:
        raise Refused("busy", f'turn {turn_answering(data)} is open or about to be; "{kind}" has to wait for its end')
    if kind == "thread.forked" and data["open"] is not None:
        raise Refused("busy", f'turn {data["open"]["number"]} is open; "{kind}" has to wait for its end')
    if kind == "cancel.requested":
        return _decide_cancel(data, event.get("askId"))
    if kind == "answer.truncated":
        return {"kept": _kept(data, event)}
    if kind == "head.moved":
        decide_move(data, event["to"])
    elif kind in ("system.changed", "system.reset"):
        _check_system(data, event)
    elif kind == "turn.annotated":
        _closed_turn(data, event["turn"])
    elif kind == "message.pinned":
        _check_pin(data, event)
    elif kind == "thread.redacted":
        _check_redaction(data, event["seqs"])
    problem = _problem_of_words(event)
    if problem is not None:
        raise Refused("invalid", problem)
    return {}


def _check_system(data: Data, event: Event) -> None:
    """Where the system message is all that is to be sent in a turn, it can't be taken away."""
    thread = data["conversation"]
    changed = change_system(thread, event["system"]) if event["type"] == "system.changed" else reset_system(thread)
    turn = turn_answering(data)
    if turn is not None and is_thread_empty(changed) and not _is_something_asked(data):
        raise Refused("busy", f"without the system message there is nothing to send in turn {turn}")


def _is_something_asked(data: Data) -> bool:
    """Asks that wait or join may be withdrawn, and an answer that does not fit leaves its turn with it."""
    turn = data["open"]
    if turn is None:
        return all(drafts_of(ask) for ask in data["queue"])
    if any(ask.get("messages", 1) > 0 for ask in turn["asks"]):
        return True
    return "output" not in turn and (turn["messages"]["length"] > 0 or bool(turn["waiting"]))


def decide_move(data: Data, to: Any) -> None:
    """Refuses a move of the head to where there is nothing: `to` is a turn, 0, or a checkpoint."""
    checkpoints = data["conversation"]["checkpoints"]
    if not isinstance(to, dict):
        if to != 0:
            _closed_turn(data, to)
    elif to["checkpoint"] not in checkpoints:
        raise Refused("unknown", f'no checkpoint "{to["checkpoint"]}"; there are: {", ".join(checkpoints) or "none"}')


def turn_answering(data: Data) -> Optional[int]:
    """The turn that is open, or about to be as asks wait for it; None where none is."""
    if data["open"] is not None:
        return data["open"]["number"]
    return None if data["waking"] is None else data["conversation"]["turns"]["length"] + 1


def _closed_turn(data: Data, number: int) -> dict[str, Any]:
    turn = turn_of(data["conversation"], number)
    if turn is None:
        raise Refused("unknown", f"no closed turn {number}; there are {data['conversation']['turns']['length']}")
    return turn


def _problem_of_words(event: Event) -> Optional[str]:
    """What is invalid in what is said, whatever the thread."""
    kind = event["type"]
    if kind == "message.appended":
        return problem_of_calls([event["message"]], may_call=False)
    if kind == "round.appended":
        return _problem_of_round(event["reply"], event["results"])
    if kind == "turn.added":
        return _problem_of_turn(event["messages"])
    if kind == "checkpoint.named" and event["name"] == "":
        return "a checkpoint needs a name"
    return None


def _problem_of_round(reply: dict[str, Any], results: list[Any]) -> Optional[str]:
    calls = len(reply.get("toolCalls", []))
    if calls == 0:
        return "a round has at least one tool call, and this one has none"
    if calls != len(results):
        return f"the round has calls: {calls}, and results: {len(results)}; give one result for each call"
    return problem_of_calls([{"role": "assistant", **reply}], may_call=True)


def _problem_of_turn(drafts: list[dict[str, Any]]) -> Optional[str]:
    if not drafts:
        return "a turn needs messages, and none are given"
    try:
        messages_from_seed(0, drafts)
    except SeedError as error:
        return str(error)
    return problem_of_calls(drafts, may_call=True)


def _decide_cancel(data: Data, ask_id: Optional[str]) -> Decided:
    turn = data["open"]
    waiting = [*data["queue"], *([] if turn is None else turn["joining"])]
    if ask_id is not None and is_among(waiting, ask_id):
        return {}
    if turn is None:
        raise Refused("stale", "no turn is open: there is nothing to cancel")
    if ask_id is not None and is_shared(turn, ask_id):
        # It is withdrawn, and the turn goes on for the others.
        return {}
    if ask_id is not None and not is_among(turn["asks"], ask_id):
        raise Refused("unknown", f'ask "{ask_id}" is neither open nor queued: it was answered, or never made')
    return interrupted_results(turn, "the turn was cancelled")


def _kept(data: Data, event: Event) -> int:
    """How many UTF-16 units stay of an answer. Journalled, as another version of Unicode may cut otherwise."""
    turn = _closed_turn(data, event["turn"])
    answer = at(turn["messages"], answer_index_of(turn))
    if answer is None:
        raise Refused("invalid", f"turn {event['turn']} has no answer with a text to truncate")
    return units_of_characters(text_of(answer), event["characters"])


def _check_redaction(data: Data, seqs: list[int]) -> None:
    in_order = all(before < after for before, after in zip(seqs, seqs[1:]))
    if not seqs or not in_order or seqs[-1] > data["seq"]:
        raise Refused("invalid", f"give the entries to redact, from 0 to {data['seq']}, in order, each once")


def _check_pin(data: Data, event: Event) -> None:
    message = event["message"]
    if event["pinned"]:
        known = any(said["id"] == message for said in _messages_of(data))
    else:
        known = any(pin["message"] == message for pin in data["conversation"]["pins"])
    if not known:
        raise Refused("unknown", f'there is no message "{message}" on the path to pin, or to unpin')


def _messages_of(data: Data) -> list[Message]:
    """What was said on the path, without the system message: closed turns, what was appended since, the open turn."""
    thread, turn = data["conversation"], data["open"]
    closed = [message for each in turns_on_path(thread) for message in to_array(each["messages"])]
    return [*thread["seed"], *closed, *thread["appended"], *([] if turn is None else _messages_of_open(turn))]


def _messages_of_open(turn: dict[str, Any]) -> list[Message]:
    """Those of the open turn, the results that its round has so far, and what waits for the next gap."""
    calls = turn["stage"]["calls"] if turn["stage"]["type"] == "running" else []
    results = [call["result"] for call in calls if call["result"] is not None]
    return [*to_array(turn["messages"]), *results, *turn["waiting"]]
