"""Tools start, answer, are withheld until somebody approves them, approved, or denied."""

from __future__ import annotations

from typing import Any

from effect_ids import Call, all_answered, calls_of, position_asked, position_out, some_run
from effects import call_tool, request_approval
from messages import Message, message_from_result
from plan import Plan, no_effects, staying
from turn_closing import settle_round
from turn_opening import next_call

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]


def receive_start(data: Data, event: Event) -> Plan:
    """A tool is about to run."""
    position = position_out(data, event["effectId"])
    return staying(data if position is None else _with_call(data, position, started=True))


def receive_result(data: Data, event: Event, decided: Decided) -> Plan:
    """A tool answered, or did not: its result is kept; with the last one the round is complete."""
    position = position_out(data, event["effectId"])
    if position is None:
        return staying(data)
    outcome = "completed" if event["type"] == "tool.completed" else event["outcome"]
    result = message_from_result(calls_of(data)[position], outcome, event["content"])
    after = _with_call(data, position, result=result)
    calls = calls_of(after)
    if all_answered(calls):
        return next_call(data, settle_round(data["open"], calls), decided, event["at"])
    return Plan(after, _arrow_between(data, after), no_effects)


def withhold_call(data: Data, event: Event) -> Plan:
    """A call needs an approval before it runs: it is asked for."""
    position = position_out(data, event["effectId"])
    if position is None:
        return staying(data)
    approval = calls_of(data)[position]["approval"] or {}
    asked = {
        "status": "requested",
        # How often it was asked for this call.
        "number": approval.get("number", 0) + 1,
        "because": event["because"],
        "version": event.get("version"),
        "arguments": event["arguments"],
    }
    after = _with_call(data, position, approval=asked)
    return Plan(after, _arrow_between(data, after), lambda: [request_approval(after, after["open"], position)])


def receive_approval(data: Data, event: Event, decided: Decided) -> Plan:
    """A call was approved, and runs; or it was not, which is its result."""
    position = position_asked(data, event["effectId"])
    if position is None:
        return staying(data)
    call = calls_of(data)[position]
    approval = call["approval"]
    if event["approved"]:
        granted = {**approval, "status": "granted"}
        after = _with_call(data, position, started=False, attempt=call["attempt"] + 1, approval=granted)
        return Plan(after, _arrow_between(data, after), lambda: [call_tool(after, after["open"], position)])
    after = _with_call(data, position, result=_denied(call, event))
    calls = calls_of(after)
    if all_answered(calls):
        return next_call(data, settle_round(data["open"], calls), decided, event["at"])
    # The call runs neither before nor now, so the round stays where it is.
    return staying(after)


def _arrow_between(before: Data, after: Data) -> str:
    """Where a round leads whose calls became others: whether any runs, or all that are left wait for an approval."""
    runs = some_run(calls_of(after))
    if some_run(calls_of(before)) == runs:
        return "stays"
    return "running" if runs else "awaiting_approval"


def _denied(call: Call, event: Event) -> Message:
    """Words of the machine's own, so they are marked as synthesised."""
    why = f": {event['reason']}" if "reason" in event else "."
    if call["approval"]["because"] == "declared":
        result = message_from_result(call, "refused", f"Not run: it was not approved{why}")
    else:
        started = (
            "The call was started, and the process that ran it stopped before it answered: "
            "it may or may not have taken effect."
        )
        result = message_from_result(call, "unknown", f"{started} It was not run again{why}")
    return {**result, "synthesised": True}


def _with_call(data: Data, position: int, **changes: Any) -> Data:
    """The data with members of one call of the round changed."""
    turn, calls = data["open"], calls_of(data)
    changed = [*calls[:position], {**calls[position], **changes}, *calls[position + 1 :]]
    return {**data, "open": {**turn, "stage": {"type": "running", "calls": changed}}}
