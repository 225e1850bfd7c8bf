"""What an accepted event comes to, given what was decided about it.

This needs no configuration, so it alone folds a journal. An event that does not fit the data changes nothing but
the count of entries and the time.
"""

from __future__ import annotations

from typing import Any, Optional

from asks import enqueue, interrupt_for, join_turn, withdraw
from edits import (
    add_turn,
    annotate,
    append_message,
    append_round,
    change_system,
    fork_data,
    move_head,
    moved_for,
    name_checkpoint,
    pin_message,
    redact_data,
    reset_system,
    truncate_answer,
)
from effect_ids import (
    awaits_reply,
    calls_of,
    deadline_id,
    is_of_summary,
    is_same_effect,
    position_asked,
    position_out,
    queue_id,
    retry_id,
    wait_id,
)
from effects import Effect, publish, thread_updated
from plan import Data, Plan, led_by, staying
from replies import progressed, receive_check, receive_failure, receive_reply
from rounds import receive_approval, receive_result, receive_start, withhold_call
from summaries import ask_summary, call_off, called_off, give_up, receive_summary, withdraw_summaries
from turn_closing import interrupt_turn
from turn_opening import attempt_call, go_on_compacted, open_turn

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]


def with_outcomes(before: Data, event: Event, decided: Decided, plan: Plan) -> Plan:
    """The plan of an event with the signals of what it ends, looked up in the data before it."""
    return led_by(lambda: _outcomes_of(before, event, decided), plan)


def _outcomes_of(before: Data, event: Event, decided: Decided) -> list[Effect]:
    turn, calls, kind = before["open"], calls_of(before), event["type"]
    if kind in ("llm.completed", "llm.failed"):
        place = _place_of(before, event["effectId"])
        if place is None:
            return []
        written = event["reply"].get("toolCalls", []) if kind == "llm.completed" else []
        names = [call["name"] for call in written]
        return [_model_signal(place, event, decided), *_decided_results(place["turn"], place["step"], names, decided)]
    if turn is None:
        return []
    place = {"turn": turn["number"], "step": turn["step"]}
    if kind in ("tool.completed", "tool.failed"):
        position = position_out(before, event["effectId"])
        outcome = "completed" if kind == "tool.completed" else event["outcome"]
    elif kind == "approval.answered":
        position = None if event["approved"] else position_asked(before, event["effectId"])
        declared = position is not None and calls[position]["approval"]["because"] == "declared"
        outcome = "refused" if declared else "unknown"
    else:
        unanswered = [call["name"] if call["result"] is None else None for call in calls]
        return _decided_results(turn["number"], turn["step"], unanswered, decided)
    if position is None:
        return []
    return [publish("tool.ended", **place, position=position, name=calls[position]["name"], outcome=outcome)]


def _place_of(before: Data, effect_id: str) -> Optional[dict[str, Any]]:
    """Where a model call stands that an event answers; None where it is not awaited."""
    turn = before["open"]
    if is_of_summary(before, effect_id):
        return {"turn": before["summarising"]["turn"] or 0, "step": 0, "attempt": 1, "purpose": "summary"}
    if not awaits_reply(before, effect_id):
        return None
    attempt = turn["stage"]["call"]["attempt"]
    return {"turn": turn["number"], "step": turn["step"], "attempt": attempt, "purpose": "answer"}


def _model_signal(place: dict[str, Any], event: Event, decided: Decided) -> Effect:
    reported = {name: event[name] for name in ("model", "usage") if name in event}
    priced = {**reported, **({"cost": decided["cost"]} if "cost" in decided else {})}
    if event["type"] == "llm.failed":
        return publish("model.failed", **place, failure=event["failure"]["kind"], **priced)
    tool_calls = len(event["reply"].get("toolCalls", []))
    return publish("model.replied", **place, finishReason=event["finishReason"], toolCalls=tool_calls, **priced)


def _decided_results(turn: int, step: int, names: list[Optional[str]], decided: Decided) -> list[Effect]:
    """Calls that were never run, or that were stopped: their results are the machine's."""
    return [
        publish(
            "tool.ended",
            turn=turn,
            step=step,
            position=result["position"],
            name=names[result["position"]],
            outcome=result["outcome"],
        )
        for result in decided.get("results", [])
        if result["position"] < len(names) and names[result["position"]] is not None
    ]


GRADES = ("within", "approaching_limit", "at_limit")


def update(before: Data, event: Event, decided: Decided) -> Plan:
    """The data after an event, the state that it leads to, and the effects that it asks for."""
    data = {**before, "seq": before["seq"] + 1, "updatedAt": event["at"]}
    plan = with_outcomes(before, event, decided, _reported(_applied(data, event, decided), decided))
    if decided.get("summaryStale") and plan.data["summarising"] is not None:
        plan = call_off(plan, "its turns are no longer those")
    return ask_summary(plan, decided["summary"]) if "summary" in decided else plan


def _applied(data: Data, event: Event, decided: Decided) -> Plan:
    kind, thread = event["type"], data["conversation"]
    # Answers.
    if kind in ("llm.completed", "llm.failed") and is_of_summary(data, event["effectId"]):
        return _end_summary(data, event, decided)
    if kind in ("llm.completed", "llm.failed", "llm.progressed") and not awaits_reply(data, event["effectId"]):
        return staying(data)
    if kind == "llm.completed":
        return receive_reply(data, event, decided)
    if kind == "llm.failed":
        return receive_failure(data, event, decided)
    if kind == "llm.progressed":
        return staying(progressed(data, event))
    if kind in ("output.accepted", "output.refused"):
        return receive_check(data, event, decided)
    if kind == "tool.started":
        return receive_start(data, event)
    if kind == "tool.withheld":
        return withhold_call(data, event)
    if kind == "approval.answered":
        return receive_approval(data, event, decided)
    if kind in ("tool.completed", "tool.failed"):
        return receive_result(data, event, decided)
    if kind == "timer.fired":
        return _receive_timer(data, event, decided)
    # What users want.
    if kind == "ask.received":
        return _receive_ask(data, event, decided)
    if kind == "cancel.requested":
        return _cancel(data, event, decided)
    # What is said or changed without a model.
    if kind == "message.appended":
        return _said(append_message(data, event["message"]))
    if kind == "round.appended":
        return _said(append_round(data, event))
    if kind == "turn.added":
        return _said({**data, "conversation": add_turn(thread, event)})
    if kind == "answer.truncated":
        truncated = truncate_answer(thread, event["turn"], decided.get("kept", 0))
        return _said(withdraw_summaries({**data, "conversation": truncated}, event["turn"]))
    if kind == "head.moved":
        return _said({**data, "conversation": move_head(thread, event["at"], event["to"])})
    if kind == "thread.redacted":
        return _said(redact_data(data))
    if kind == "thread.forked":
        return fork_data(data, event)
    if kind == "system.changed":
        return staying({**data, "conversation": change_system(thread, event["system"])})
    if kind == "system.reset":
        return staying({**data, "conversation": reset_system(thread)})
    if kind == "turn.annotated":
        return staying({**data, "conversation": annotate(thread, event)})
    if kind == "checkpoint.named":
        return staying({**data, "conversation": name_checkpoint(thread, event["name"], event["at"])})
    if kind == "message.pinned":
        return staying({**data, "conversation": pin_message(thread, event)})
    if kind == "metadata.changed":
        return staying({**data, "metadata": event["metadata"]})
    if kind == "thread.configured":
        return staying(_configured(data, event))
    raise ValueError(f'there is no event "{kind}"')


def _said(data: Data) -> Plan:
    """What was said is another than before; observers hear of an open turn when it ends."""
    return staying(data, lambda: [thread_updated(data)] if data["open"] is None else [])


def _reported(plan: Plan, decided: Decided) -> Plan:
    """Signals of what was decided beside where the event leads stand right behind that of a turn that it opens."""
    fullness, failed = decided.get("fullness"), decided.get("policyFailed")
    before = plan.data["fullness"]
    now = before if fullness is None else fullness["is"]
    published = [] if failed is None else [publish("policy.failed", reason=failed)]
    if GRADES.index(now) > GRADES.index(before):
        tokens, available = fullness["tokens"], fullness["available"]
        published.append(publish("context.warning", warning=now, tokens=tokens, available=available))

    def effects() -> list[Effect]:
        asked = plan.effects()
        opens = bool(asked) and asked[0]["type"] == "publish" and asked[0]["signal"]["type"] == "turn.started"
        return [*asked[:opens], *published, *asked[opens:]]

    return Plan({**plan.data, "fullness": now}, plan.arrow, effects)


def _end_summary(before: Data, event: Event, decided: Decided) -> Plan:
    """The summary that was written is there, or will not come; a call that waited for it is made."""
    data, signal = receive_summary(before, event, decided)
    turn = data["open"]
    # It waits on where one summary was not enough, and another is asked for.
    if turn is None or turn["stage"]["type"] != "compacting" or "compacting" in decided:
        return staying(data, lambda: [signal])
    timer = wait_id(data["threadId"], turn["number"], turn["step"], turn["stage"]["attempt"])
    plan = go_on_compacted(data, turn, decided, event["at"])
    return led_by(lambda: [signal, {"type": "cancelTimer", "effectId": timer}], plan)


def _stop_waiting(data: Data, event: Event, decided: Decided) -> Plan:
    """A call has waited for its summary long enough."""
    if data["summarising"] is None:
        return go_on_compacted(data, data["open"], decided, event["at"])
    after = give_up(data)
    plan = go_on_compacted(after, after["open"], decided, event["at"])
    return led_by(lambda: called_off(data, "it did not come in time"), plan)


def _receive_ask(data: Data, event: Event, decided: Decided) -> Plan:
    ask = _ask_of(event)
    if "queued" in decided:
        return enqueue(data, ask, decided["queued"], decided)
    if data["open"] is None:
        return open_turn(moved_for(data, event), [ask], decided, ask["at"])
    if decided.get("joins"):
        return join_turn(data, data["open"], ask)
    return interrupt_for(data, ask, event.get("partial"), decided) if decided.get("interrupts") else staying(data)


def _receive_timer(data: Data, event: Event, decided: Decided) -> Plan:
    thread_id, turn, queue, waking, at = data["threadId"], data["open"], data["queue"], data["waking"], event["at"]
    fired = lambda id: is_same_effect(event["effectId"], id)
    if waking is not None and queue and fired(queue_id(thread_id, waking["seq"])):
        opens = decided.get("opens", 1)
        return open_turn({**data, "queue": queue[opens:], "waking": None}, queue[:opens], decided, at)
    if turn is None:
        return staying(data)
    if "limit" in decided and fired(deadline_id(thread_id, turn["number"])):
        # The timer has fired, so there is none to cancel.
        stopped = {**data, "open": {**turn, "deadlineAt": None}}
        outcome = {"status": "failed", "limit": decided["limit"]}
        return interrupt_turn(stopped, outcome, at, decided.get("results", []))
    stage = turn["stage"]
    if stage["type"] == "compacting" and fired(wait_id(thread_id, turn["number"], turn["step"], stage["attempt"])):
        return _stop_waiting(data, event, decided)
    if stage["type"] == "backing_off" and fired(retry_id(thread_id, turn["number"], turn["step"], stage["attempt"])):
        return attempt_call(data, turn, stage["attempt"], decided, at)
    return staying(data)


def _cancel(data: Data, event: Event, decided: Decided) -> Plan:
    withdrawn = withdraw(data, event["askId"], event["at"]) if "askId" in event else None
    if withdrawn is not None:
        return withdrawn
    if data["open"] is None:
        return staying(data)
    outcome = {"status": "cancelled", "reason": event.get("reason")}
    results = decided.get("results", [])
    return interrupt_turn(data, outcome, event["at"], results, event.get("partial"), event.get("usage"))


def _configured(data: Data, event: Event) -> Data:
    turn = data["open"]
    if turn is not None and turn["stage"]["type"] == "responding":
        stage = turn["stage"]
        turn = {**turn, "stage": {**stage, "call": {**stage["call"], "counted": None}}}
    return {
        **data,
        "configuration": event["configuration"],
        "model": event.get("model", data["model"]),
        # Another counter may count otherwise.
        "measured": None,
        "room": None,
        "open": turn,
    }


def _ask_of(event: Event) -> dict[str, Any]:
    """An ask as it waits, joins or opens a turn."""
    return {name: value for name, value in event.items() if name not in ("type", "partial", "from")}
