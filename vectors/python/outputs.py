"""Replies where an output is wanted, and what their checks come to."""

from __future__ import annotations

from typing import Any

from chunks import append, at as element_at
from digest import js_number
from effect_ids import awaits_check
from effects import check_output, publish
from messages import Message, message_from_draft
from plan import Plan, led_by, staying
from turn_closing import close_turn, flush_waiting, with_answer
from turn_opening import next_call

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]
Turn = dict[str, Any]


def receive_output(data: Data, message: Message, event: Event, decided: Decided) -> Plan:
    """A model replied where an output was asked for: the reply is checked, or the turn ends without one."""
    turn = data["open"]
    unchecked = decided.get("unchecked")
    if unchecked is not None:
        said = {**message, "incomplete": True} if unchecked == "cut" else message
        failure = {"kind": unchecked, "message": _why_unchecked(unchecked, message, event["finishReason"])}
        return close_turn(data, with_answer(turn, said), {"status": "failed", "output": failure}, event["at"])
    checking = {
        **turn,
        "messages": append(turn["messages"], message),
        "made": turn["made"] + 1,
        "stage": {"type": "checking", "finishReason": event["finishReason"]},
    }
    return Plan({**data, "open": checking}, "checking", lambda: check_output(data["threadId"], checking))


def receive_check(data: Data, event: Event, decided: Decided) -> Plan:
    """A reply was checked: the turn has its output, or the model is asked again, or the turn fails."""
    turn = data["open"]
    if turn is None or "output" not in turn or not awaits_check(data, event["effectId"]):
        return staying(data)
    reply = element_at(turn["messages"], turn["messages"]["length"] - 1)
    if reply is None:
        return staying(data)
    if event["type"] == "output.refused":
        return _receive_refusal(data, turn, reply, event, decided)
    if decided.get("goesOn"):
        return next_call(data, flush_waiting(turn), decided, event["at"])
    outcome = {"status": "completed", "finishReason": turn["stage"]["finishReason"]}
    output = {"name": turn["output"]["name"], "value": event["value"]}
    return close_turn(data, {**turn, "answer": reply["id"]}, outcome, event["at"], output)


def may_repair(turn: Turn, event: Event) -> bool:
    """Whether a model may be asked again because its answer did not fit."""
    refused = len(turn.get("refusedOutputs", []))
    return "output" in turn and not event.get("checkFailed") and refused < turn["output"]["repairs"]


def _receive_refusal(data: Data, turn: Turn, reply: Message, event: Event, decided: Decided) -> Plan:
    issues, repairs = event["issues"], may_repair(turn, event)
    refused: dict[str, Any] = {"reply": reply, "issues": issues}
    noted = turn
    if repairs and "limit" not in decided:
        request = _repair_request(f"{turn['number']}.{turn['made']}", turn["output"]["name"], issues)
        refused = {**refused, "request": request}
        noted = {**turn, "messages": append(turn["messages"], request), "made": turn["made"] + 1}
    noted = {**noted, "refusedOutputs": [*turn.get("refusedOutputs", []), refused]}
    if repairs:
        plan = next_call(data, flush_waiting(noted), decided, event["at"])
    else:
        failure = {"kind": "unchecked" if event.get("checkFailed") else "invalid", "message": _issues_in_words(issues)}
        plan = close_turn(data, noted, {"status": "failed", "output": failure}, event["at"])
    attempt = len(noted["refusedOutputs"])
    signal = publish("output.refused", turn=turn["number"], step=turn["step"], attempt=attempt, issues=len(issues))
    return led_by(lambda: [signal], plan)


def _repair_request(id: str, name: str, issues: list[dict[str, Any]]) -> Message:
    """Words of the machine's own, so they are marked as synthesised."""
    listed = "\n".join(f"- {_in_words(issue)}" for issue in issues)
    content = (
        f'Your answer is not a valid "{name}":\n{listed}\n'
        "Answer again with the whole corrected JSON, and nothing else."
    )
    return {**message_from_draft(id, {"role": "user", "content": content}), "synthesised": True}


def _issues_in_words(issues: list[dict[str, Any]]) -> str:
    return "; ".join(map(_in_words, issues)) if issues else "the last answer did not fit"


def _in_words(issue: dict[str, Any]) -> str:
    path = [part if isinstance(part, str) else js_number(part) for part in issue.get("path", [])]
    return f'"{".".join(path)}": {issue["message"]}' if path else issue["message"]


def _why_unchecked(kind: str, message: Message, finish_reason: Any) -> str:
    if kind == "cut":
        return f"the reply ended early ({'no reason was given' if finish_reason is None else finish_reason})"
    return " ".join(part["text"] for part in message["parts"] if part["type"] == "refusal")
