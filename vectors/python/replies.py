"""A model replied or failed."""

from __future__ import annotations

from typing import Any, Optional

from chunks import append
from effect_ids import step_id
from effects import call_tool, publish, retry_timer
from messages import join_partials, message_from_partial, message_from_reply, tool_calls_of
from outputs import receive_output
from plan import Plan
from round_calls import Call, all_answered
from turn_closing import answer_from, charge, close_turn, flush_waiting, settle_round, with_answer
from turn_opening import next_call

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]


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
