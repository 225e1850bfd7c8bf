"""What observers hear of the calls that an event ends. It stands before all else that the event comes to."""

from __future__ import annotations

from typing import Any, Optional

from effect_ids import awaits_reply, is_of_summary, position_asked, position_out
from effects import Effect, publish
from plan import Plan, led_by
from round_calls import calls_of

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
