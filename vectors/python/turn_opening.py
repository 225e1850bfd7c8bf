"""A turn opens; the next model call."""

from __future__ import annotations

from typing import Any

from asks import ask_bringing, caller_tools_of, drafts_of, is_drafts, offered_with, with_joined
from chunks import append_all, chunks_of
from effects import call_llm, deadline_timer, publish, wait_timer
from messages import message_from_draft
from plan import Plan, led_by
from tree import without_appended
from turn_closing import close_turn
from usage import no_usage

Data = dict[str, Any]
Turn = dict[str, Any]


def open_turn(data: Data, asks: list[dict[str, Any]], decided: dict[str, Any], at: int) -> Plan:
    """Asks open a turn: what was appended before leads it, then what is asked."""
    turn = _opened_turn(data, asks, decided, at)
    opened = {**data, "conversation": without_appended(data["conversation"]), "open": turn}
    started = publish("turn.started", turn=turn["number"], askIds=[ask["askId"] for ask in turn["asks"]])
    return led_by(lambda: [started, *deadline_timer(data["threadId"], turn)], next_call(opened, turn, decided, at))


def next_call(data: Data, turn: Turn, decided: dict[str, Any], at: int) -> Plan:
    """The next model call of the open turn; or its end, where a limit stands before it."""
    return attempt_call(data, {**turn, "step": turn["step"] + 1}, 1, decided, at)


def attempt_call(data: Data, turn: Turn, attempt: int, decided: dict[str, Any], at: int) -> Plan:
    """An attempt of the present step's model call."""
    # A step that is never made does not count.
    unmade = {**turn, "step": turn["step"] - 1} if attempt == 1 else turn
    if "limit" in decided:
        return close_turn(data, unmade, {"status": "failed", "limit": decided["limit"]}, at)
    if "unfit" in decided:
        # What was measured led to this, so the next ask does without it: nothing that is sent could correct it.
        return close_turn({**data, "measured": None}, unmade, {"status": "failed", "unfit": decided["unfit"]}, at)
    if "compacting" in decided:
        stage = {"type": "compacting", "attempt": attempt, "dueAt": decided["compacting"]["dueAt"]}
        waiting = {**unmade, "stage": stage}
        return Plan({**data, "open": waiting}, "compacting", lambda: [wait_timer(data["threadId"], waiting)])
    # Every first call of a thread has a cut on its entry; the last one stands for journals that lack it.
    cut = decided.get("cut") or data["cut"] or {"policy": "keep-all@1", "from": None, "interrupted": "keep"}
    joined, configuration = with_joined(turn), data["configuration"]
    call = {
        "attempt": attempt,
        "cut": cut,
        "system": data["conversation"]["system"],
        "pins": data["conversation"]["pins"],
        "idleTimeoutMs": configuration.get("idleTimeoutMs"),
        "counted": decided.get("counted"),
        "partial": None,
        # Journals that 0.1 wrote do not say which tools the machine has.
        **({"tools": offered_with(configuration["tools"], joined)} if "tools" in configuration else {}),
    }
    calling = {**joined, "stage": {"type": "responding", "call": call}}
    after = {**data, "cut": cut, "open": calling}
    delivered = [
        publish("ask.delivered", askId=ask["askId"], turn=turn["number"], step=turn["step"]) for ask in turn["joining"]
    ]
    return Plan(after, "responding", lambda: [*delivered, call_llm(after, calling)])


def go_on_compacted(data: Data, turn: Turn, decided: dict[str, Any], at: int) -> Plan:
    """The call that waited for a summary is made, or the turn ends."""
    attempt = turn["stage"]["attempt"]
    # While it waited for its first attempt the step was not counted yet.
    return next_call(data, turn, decided, at) if attempt == 1 else attempt_call(data, turn, attempt, decided, at)


def _opened_turn(data: Data, asks: list[dict[str, Any]], decided: dict[str, Any], at: int) -> Turn:
    thread = data["conversation"]
    number, led = thread["turns"]["length"] + 1, thread["appended"]
    drafts = [draft for ask in asks for draft in drafts_of(ask)]
    said = [message_from_draft(f"{number}.{len(led) + index}", draft) for index, draft in enumerate(drafts)]
    # Parameters of the machine lie beneath those of the thread, and those beneath what the asks say.
    model = {**data["configuration"].get("model", {}), **data["model"]}
    limits: dict[str, Any] = {}
    metadata = None
    output: dict[str, Any] = {}
    for ask in asks:
        model = {**model, **ask.get("model", {})}
        limits = {**limits, **ask.get("limits", {})}
        if "output" in ask:
            output = {"output": ask["output"]}
        # Of one message it is the message's.
        if "metadata" in ask and is_drafts(ask["input"]):
            metadata = {**(metadata or {}), **ask["metadata"]}
    return {
        "number": number,
        "parent": thread["head"],
        "asks": [ask_bringing(ask) for ask in asks],
        "startedAt": at,
        "messages": append_all(chunks_of(led), said),
        "waiting": [],
        "joining": [],
        "made": len(led) + len(said),
        "step": 0,
        "toolCalls": 0,
        "usage": no_usage(),
        "answer": None,
        "metadata": metadata,
        "model": model,
        **caller_tools_of([], asks),
        "limits": limits,
        "deadlineAt": decided.get("deadlineAt"),
        **output,
        "stage": {"type": "running", "calls": []},
    }
