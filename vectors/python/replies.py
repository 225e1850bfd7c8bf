"""A model replied or failed."""

from __future__ import annotations

from typing import Any, Optional

from chunks import append, at as element_at
from digest import js_number
from effect_ids import Call, all_answered, awaits_check, step_id
from effects import call_tool, check_output, publish, retry_timer
from messages import Message, join_partials, message_from_draft, message_from_partial, message_from_reply, tool_calls_of
from plan import Plan, led_by, staying
from turn_closing import answer_from, charge, close_turn, flush_waiting, settle_round, with_answer
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


def receive_reply(before: Data, event: Event, decided: Decided) -> Plan:
    """A model replied: a round begins, or the turn ends with its answer."""
    data = {**charge(before, event.get("usage"), decided.get("cost")), "measured": measured_by(before, event)}
    turn = data["open"]
    place = (turn["number"], turn["step"])
    message = message_from_reply(f"{turn['number']}.{turn['made']}", step_id(*place), event["reply"])
    asked = tool_calls_of(message)
    if not asked and "output" in turn:
        return receive_output(data, message, event, decided)
    said = {**turn, "messages": append(turn["messages"], message), "made": turn["made"] + 1}
    if not asked and decided.get("goesOn"):
        # Asks that joined the turn wait to be shown.
        return next_call(data, flush_waiting(said), decided, event["at"])
    if not asked:
        outcome = {"status": "completed", "finishReason": event["finishReason"]}
        return close_turn(data, with_answer(turn, message), outcome, event["at"])
    calls = answer_from(_round_of(turn, asked, decided), decided.get("results", []))
    # A call to a tool that is not there counts too: a model that invents tools must come to an end.
    counted = 0 if "limit" in decided else len(calls)
    begun = {**said, "toolCalls": turn["toolCalls"] + counted}
    if all_answered(calls):
        return next_call(data, settle_round(begun, calls), decided, event["at"])
    running = {**begun, "stage": {"type": "running", "calls": calls}}
    after = {**data, "open": running}
    unanswered = [position for position, call in enumerate(calls) if call["result"] is None]
    return Plan(after, "running", lambda: [call_tool(after, running, position) for position in unanswered])


def receive_failure(before: Data, event: Event, decided: Decided) -> Plan:
    """A model call failed: it is made again later, or the turn ends."""
    data = charge(before, event.get("usage"), decided.get("cost"))
    turn, failure = data["open"], event["failure"]
    if "retry" not in decided:
        partial = event.get("partial", turn["stage"]["call"]["partial"])
        shown = message_from_partial(f"{turn['number']}.{turn['made']}", partial)
        return close_turn(data, with_answer(turn, shown), {"status": "failed", "failure": failure}, event["at"])
    retry = decided["retry"]
    waiting = {**flush_waiting(turn), "stage": {"type": "backing_off", **retry}}
    if "room" in decided:
        # The prompt was too long for the server: within one turn its room shrinks once.
        data = {**data, "room": {"tokens": decided["room"], "turn": turn["number"]}}
    scheduled = publish("retry.scheduled", turn=turn["number"], **retry, because=failure["kind"])
    return Plan({**data, "open": waiting}, "backing_off", lambda: [scheduled, retry_timer(data["threadId"], waiting)])


def progressed(data: Data, event: Event) -> Data:
    """More of a reply was shown. What began anew makes void what was shown before."""
    turn = data["open"]
    call = turn["stage"]["call"]
    shown = None if event.get("again") else call["partial"]
    stage = {"type": "responding", "call": {**call, "partial": join_partials(shown, event["partial"])}}
    return {**data, "open": {**turn, "stage": stage}}


def measured_by(data: Data, event: Event) -> Optional[dict[str, Any]]:
    """How far the counter was off in the call that an event answers; what was known before where it does not say."""
    turn = data["open"]
    counted = turn["stage"]["call"]["counted"] if turn["stage"]["type"] == "responding" else None
    reported = event.get("usage", {}).get("inputTokens")
    return data["measured"] if not counted or reported is None else {"counted": counted, "reported": reported}


def _round_of(turn: dict[str, Any], asked: list[dict[str, Any]], decided: Decided) -> list[Call]:
    callers = {tool["name"] for tool in turn.get("callerTools", [])}
    return [
        {
            **{name: part[name] for name in ("callId", "providerCallId", "name", "arguments")},
            "started": False,
            "attempt": 1,
            # The journal says whose tool it is, whatever the machine declares by now.
            **({"by": "caller"} if part["name"] in callers else {}),
            "approval": {"status": "required"} if position in decided.get("approvals", []) else None,
            "result": None,
        }
        for position, part in enumerate(asked)
    ]
