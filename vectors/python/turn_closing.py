"""A turn ends, by itself or stopped from outside."""

from __future__ import annotations

from typing import Any, Optional

from chunks import append, append_all, at as element_at, chunks_of, to_array
from effect_ids import Call, approval_out, check_id, deadline_id, llm_id, retry_id, tool_id, wait_id
from effects import Effect, publish, queue_timer, thread_updated
from messages import Message, message_from_partial, message_from_result
from plan import Plan, led_by
from tree import place_after
from usage import add_usage, usage_of_call

Data = dict[str, Any]
Turn = dict[str, Any]

REMEMBERED = 256
"""How many closed turns, and how many dropped asks, back a repeated ask is recognised."""


def close_turn(
    data: Data, turn: Turn, outcome: dict[str, Any], at: int, output: Optional[dict[str, Any]] = None
) -> Plan:
    """The open turn ends, with what it has; the head moves to it, and the asks in the queue are woken."""
    whole = _without_refused(flush_waiting(turn))
    thread, messages = data["conversation"], whole["messages"]
    closed = {
        **{name: whole[name] for name in ("number", "parent", "asks", "messages", "usage", "toolCalls", "startedAt")},
        "outcome": outcome,
        "steps": whole["step"],
        "endedAt": at,
        "place": place_after(thread, whole["parent"], whole["number"], to_array(messages)),
        # Members that would say nothing are absent, not null.
        **{name: whole[name] for name in ("answer", "metadata") if whole[name] is not None},
        **({} if output is None else {"output": output}),
        **({"refusedOutputs": whole["refusedOutputs"]} if "refusedOutputs" in whole else {}),
    }
    waking = {"seq": data["seq"], "dueAt": at} if data["queue"] else None
    after = {
        **drop(data, turn["joining"], "returned", at),
        "conversation": {**thread, "turns": append(thread["turns"], closed), "head": closed["number"]},
        "open": None,
        "waking": waking,
    }
    return Plan(
        after,
        "completed" if outcome["status"] == "completed" else "error",
        lambda: [
            *_cancel_deadline(data["threadId"], turn),
            *_signals_of(closed),
            *(publish("ask.returned", askId=ask["askId"], turn=turn["number"]) for ask in turn["joining"]),
            thread_updated(after),
            *([] if waking is None else [queue_timer(data["threadId"], waking)]),
        ],
    )


def interrupt_turn(
    data: Data,
    outcome: dict[str, Any],
    at: int,
    results: list[dict[str, Any]],
    partial: Optional[dict[str, Any]] = None,
    usage: Optional[dict[str, Any]] = None,
) -> Plan:
    """The open turn is stopped from outside: what was out is cancelled, and what was shown is kept and marked.

    `results` are for the calls that have none, `partial` is what had been shown of the reply, `usage` what it used.
    """
    turn = data["open"]
    stopped = _stop(data, turn, results, partial, usage)
    return led_by(lambda: _cancellations(data["threadId"], turn), close_turn(stopped, stopped["open"], outcome, at))


def flush_waiting(turn: Turn) -> Turn:
    """Messages that were appended while something was out join the turn."""
    return {**turn, "messages": append_all(turn["messages"], turn["waiting"]), "waiting": []}


def settle_round(turn: Turn, calls: list[Call]) -> Turn:
    """The finished round joins the turn: its results in the order of the calls, then what waited."""
    results = [call["result"] for call in calls if call["result"] is not None]
    return flush_waiting({**turn, "messages": append_all(turn["messages"], results)})


def answer_from(calls: list[Call], results: list[dict[str, Any]]) -> list[Call]:
    """The calls of a round with the results that were decided in a tool's place, for those that have none yet."""
    decided = {result["position"]: result for result in results}
    return [
        {**call, "result": _synthesised(call, decided[position]["outcome"], decided[position]["content"])}
        if call["result"] is None and position in decided
        else call
        for position, call in enumerate(calls)
    ]


def with_answer(turn: Turn, message: Optional[Message]) -> Turn:
    """A turn that is about to close with the message that ended it, whole or not."""
    return turn if message is None else {**turn, "messages": append(turn["messages"], message), "answer": message["id"]}


def drop(data: Data, asks: list[dict[str, Any]], because: str, dropped_at: int) -> Data:
    """No turn answers these asks any more."""
    added = [{"askId": a["askId"], "askedAt": a["at"], "droppedAt": dropped_at, "because": because} for a in asks]
    return {**data, "dropped": [*data["dropped"], *added][-REMEMBERED:]}


def charge(data: Data, reported: Optional[dict[str, Any]], cost: Optional[dict[str, Any]]) -> Data:
    """What an answering call used, on the open turn and the thread: unknown, not nothing, where it was not reported."""
    used, usage, turn = usage_of_call(reported, cost), data["usage"], data["open"]
    return {
        **data,
        "usage": {**usage, "total": add_usage(usage["total"], used)},
        "open": {**turn, "usage": add_usage(turn["usage"], used)},
    }


def _stop(
    data: Data,
    turn: Turn,
    results: list[dict[str, Any]],
    partial: Optional[dict[str, Any]],
    usage: Optional[dict[str, Any]],
) -> Data:
    stage = turn["stage"]
    if stage["type"] == "responding":
        charged = charge({**data, "open": turn}, usage, None)
        journalled = stage["call"]["partial"]
        shown = message_from_partial(f"{turn['number']}.{turn['made']}", journalled if partial is None else partial)
        return {**charged, "open": with_answer(charged["open"], shown)}
    if stage["type"] == "checking":
        # The reply is whole, and what it is worth is not known: nothing is passed off as an output.
        reply = element_at(turn["messages"], turn["messages"]["length"] - 1)
        return {**data, "open": {**turn, "answer": None if reply is None else reply["id"]}}
    if stage["type"] == "running":
        # Whatever the journal does not decide is interrupted: a closed turn has no open calls.
        calls = [
            {**call, "result": _synthesised(call, "interrupted", [])} if call["result"] is None else call
            for call in answer_from(stage["calls"], results)
        ]
        return {**data, "open": settle_round(turn, calls)}
    return {**data, "open": turn}


def _synthesised(call: Call, outcome: str, content: Any) -> Message:
    return {**message_from_result(call, outcome, content), "synthesised": True}


def _without_refused(turn: Turn) -> Turn:
    """Answers that did not fit, and what was said about them, are none of the turn's messages any more."""
    if "refusedOutputs" not in turn:
        return turn
    refused = turn["refusedOutputs"]
    ids = {each[name]["id"] for each in refused for name in ("reply", "request") if name in each}
    messages = [message for message in to_array(turn["messages"]) if message["id"] not in ids]
    return {**turn, "messages": chunks_of(messages)}


def _cancellations(thread_id: str, turn: Turn) -> list[Effect]:
    stage, place = turn["stage"], (thread_id, turn["number"], turn["step"])
    if stage["type"] == "compacting":
        return [{"type": "cancelTimer", "effectId": wait_id(*place, stage["attempt"])}]
    if stage["type"] == "responding":
        return [{"type": "cancelLlm", "effectId": llm_id(*place, stage["call"]["attempt"])}]
    if stage["type"] == "checking":
        return [{"type": "cancelCheck", "effectId": check_id(*place)}]
    if stage["type"] == "backing_off":
        return [{"type": "cancelTimer", "effectId": retry_id(*place, stage["attempt"])}]
    effects: list[Effect] = []
    for call in stage["calls"]:
        approval = approval_out(thread_id, call)
        if approval is not None:
            effects.append({"type": "cancelApproval", "effectId": approval})
        elif call["result"] is None:
            effects.append({"type": "cancelTool", "effectId": tool_id(thread_id, call)})
    return effects


def _cancel_deadline(thread_id: str, turn: Turn) -> list[Effect]:
    if turn["deadlineAt"] is None:
        return []
    return [{"type": "cancelTimer", "effectId": deadline_id(thread_id, turn["number"])}]


def _signals_of(turn: Turn) -> list[Effect]:
    outcome, number = turn["outcome"], turn["number"]
    ended = publish("turn.ended", turn=number, status=outcome["status"])
    if "unfit" in outcome:
        return [publish("context.unfit", turn=number, unfit=outcome["unfit"]), ended]
    if "limit" in outcome:
        return [publish("limit.reached", turn=number, reached=outcome["limit"]), ended]
    return [ended]
