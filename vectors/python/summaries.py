"""Summaries, which a model writes in the background: asked for, received, called off, withdrawn.

The profile of this machine asks for none. Journals may hold them all the same, and folding one needs no policy.
"""

from __future__ import annotations

from typing import Any, Optional

from effect_ids import summary_id
from effects import Effect, call_summary, publish
from messages import message_from_reply, text_of
from plan import Plan
from text import trimmed
from tree import Turn, change_turn, is_before, turn_of
from usage import add_usage, usage_of_call

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]


def ask_summary(plan: Plan, task: dict[str, Any]) -> Plan:
    """A summary is asked for, after all that the event came to: the answer comes first."""
    data = plan.data
    number, configuration, turn = data["summaries"] + 1, data["configuration"], data["open"]
    if "unfit" in task:
        return _refuse_summary(plan, task, number)
    summariser = configuration.get("summariser", {})
    summarising = {
        **task,
        "number": number,
        # It bears the cost.
        "turn": None if turn is None else turn["number"],
        "instruction": summariser.get("instruction", ""),
        "model": {**configuration.get("model", {}), **data["model"], **summariser.get("model", {})},
        "idleTimeoutMs": configuration.get("idleTimeoutMs"),
    }
    started = publish("summary.started", number=number, covers=task["covers"])
    after = {**data, "summaries": number, "summarising": summarising}
    return plan._replace(data=after, effects=lambda: [*plan.effects(), started, call_summary(after, summarising)])


def receive_summary(data: Data, event: Event, decided: Decided) -> tuple[Data, Effect]:
    """A summary came, or did not: it is kept with the last turn that it covers, or its failure is counted there.

    Gives the data and the signal about it. A call that waits for it goes on elsewhere.
    """
    summarising = data["summarising"]
    number, covers = summarising["number"], summarising["covers"]
    charged = _charge(data, event.get("usage"), decided.get("cost"))
    failure = event["failure"]["message"] if event["type"] == "llm.failed" else decided.get("summaryFailed")
    if failure is None:
        written = {"number": number, "from": covers["from"], "text": summary_text(event)}
        keep = lambda turn: {**turn, "summaries": [*turn.get("summaries", []), written]}
        signal = publish("summary.completed", number=number, covers=covers)
    else:
        keep = _failed_once
        signal = publish("summary.failed", number=number, covers=covers, reason=failure)
    thread = change_turn(charged["conversation"], covers["to"], keep)
    return {**charged, "conversation": thread, "summarising": None}, signal


def summary_text(event: Event) -> str:
    """The text of a summary that came."""
    return trimmed(text_of(message_from_reply("", "", event["reply"])))


def give_up(data: Data) -> Data:
    """A summary is no longer awaited: it failed, and what it costs is not known."""
    charged = _charge(data, None, None)
    thread = change_turn(charged["conversation"], data["summarising"]["covers"]["to"], _failed_once)
    return {**charged, "conversation": thread, "summarising": None}


def called_off(data: Data, reason: str) -> list[Effect]:
    """The effects of calling off the summary that is being written."""
    number, covers = data["summarising"]["number"], data["summarising"]["covers"]
    return [
        {"type": "cancelLlm", "effectId": summary_id(data["threadId"], number)},
        publish("summary.failed", number=number, covers=covers, reason=reason),
    ]


def call_off(plan: Plan, reason: str) -> Plan:
    """A summary is no longer wanted: what it costs is not known, which is not nothing."""
    data = {**_charge(plan.data, None, None), "summarising": None}
    total = data["usage"]["total"]
    return plan._replace(
        data=data,
        effects=lambda: [*(_with_total(effect, total) for effect in plan.effects()), *called_off(plan.data, reason)],
    )


def withdraw_summaries(data: Data, changed: int) -> Data:
    """A turn is no longer what it was: what was written about it does not hold."""
    thread = data["conversation"]

    def withdrawn(turn: Turn) -> Turn:
        stale = [{**each, "stale": True} if each["from"] <= changed else each for each in turn["summaries"]]
        return {**turn, "summaries": stale}

    # A summary is kept with the last turn that it covers.
    for number in range(max(changed, 1), thread["turns"]["length"] + 1):
        summaries = turn_of(thread, number).get("summaries", [])
        if any(each["from"] <= changed for each in summaries) and is_before(thread, changed, number):
            thread = change_turn(thread, number, withdrawn)
    return {**data, "conversation": thread}


def _refuse_summary(plan: Plan, task: dict[str, Any], number: int) -> Plan:
    """What the model would have to read does not fit: the summary failed before it was asked for."""
    data, covers, unfit = plan.data, task["covers"], task["unfit"]
    reason = (
        f"what it is about takes {unfit['tokens']} tokens, however short each text, "
        f"and there is room for {unfit['available']}"
    )
    failed = publish("summary.failed", number=number, covers=covers, reason=reason)
    thread = change_turn(data["conversation"], covers["to"], _failed_once)
    after = {**data, "summaries": number, "conversation": thread}
    return plan._replace(data=after, effects=lambda: [*plan.effects(), failed])


def _charge(data: Data, reported: Optional[dict[str, Any]], cost: Optional[dict[str, Any]]) -> Data:
    """Its cost is borne by the turn that was open when it was asked for, open or closed by now."""
    used, usage, turn = usage_of_call(reported, cost), data["usage"], data["open"]
    total = {**usage, "total": add_usage(usage["total"], used)}
    bearer = data["summarising"]["turn"]
    add = lambda turn: {**turn, "usage": add_usage(turn["usage"], used)}
    if bearer is None:
        return {**data, "usage": {**total, "betweenTurns": add_usage(usage["betweenTurns"], used)}}
    if turn is not None and turn["number"] == bearer:
        return {**data, "usage": total, "open": add(turn)}
    return {**data, "usage": total, "conversation": change_turn(data["conversation"], bearer, add)}


def _with_total(effect: Effect, usage: dict[str, Any]) -> Effect:
    """What was said of the thread's usage before something was charged to it."""
    if effect["type"] != "publish" or effect["signal"]["type"] != "thread.updated":
        return effect
    return {**effect, "signal": {**effect["signal"], "usage": usage}}


def _failed_once(turn: Turn) -> Turn:
    return {**turn, "summaryFailures": turn.get("summaryFailures", 0) + 1}
