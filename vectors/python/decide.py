"""What the configuration adds to an event, or why it is refused.

All that depends on settings is here and in what it calls. What is decided stands in the journal, so `update` needs
none of it. In the profile `core` there is no budget: every prompt fits, and no summary is written.
"""

from __future__ import annotations

from typing import Any

from decide_ask import decide_ask, next_of
from decide_edit import decide_edit
from decide_outcome import (
    decide_check,
    decide_failure,
    decide_opening,
    decide_reply,
    decide_result,
    decide_step,
    interrupted_results,
    limit_spent,
)
from effect_ids import approval_out, calls_of, check_id, deadline_id, llm_id, queue_id, retry_id, runs, tool_id
from effects import approval_digest
from settings import Refused, Settings

Data = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]


def decide(settings: Settings, data: Data, event: Event) -> Decided:
    """What is decided about an event; empty where nothing is to decide. Raises Refused for one that does not fit."""
    kind = event["type"]
    if kind == "ask.received":
        return decide_ask(settings, data, event)
    if kind in ("llm.completed", "llm.failed", "llm.progressed"):
        return _decide_reply(settings, data, event)
    if kind in ("output.accepted", "output.refused"):
        _awaited(event, data["open"], "checking", check_id, data["threadId"])
        return decide_check(settings, data, event)
    if kind in ("tool.started", "tool.withheld", "tool.completed", "tool.failed"):
        return _decide_tool(settings, data, event)
    if kind == "approval.answered":
        return _decide_approval(settings, data, event)
    if kind == "timer.fired":
        return _decide_timer(settings, data, event)
    return decide_edit(data, event)


def _stale(event: Event) -> Refused:
    reason = f'"{event["effectId"]}" is not awaited: it was answered or cancelled, or it is of another thread'
    return Refused("stale", reason)


def _decide_reply(settings: Settings, data: Data, event: Event) -> Decided:
    turn = data["open"]
    attempt = turn["stage"]["call"]["attempt"] if turn is not None and turn["stage"]["type"] == "responding" else 0
    _awaited(event, turn, "responding", llm_id, data["threadId"], attempt)
    if event["type"] == "llm.progressed":
        return {}
    decide_outcome = decide_reply if event["type"] == "llm.completed" else decide_failure
    return decide_outcome(settings, data, event)


def _awaited(event: Event, turn: Any, stage: str, id_of: Any, thread_id: str, *attempt: int) -> None:
    """Refuses an answer to what is not out. Whole ids are compared: a thread's id may end as another's does."""
    if turn is None or turn["stage"]["type"] != stage:
        raise _stale(event)
    if event["effectId"] != id_of(thread_id, turn["number"], turn["step"], *attempt):
        raise _stale(event)


def _decide_tool(settings: Settings, data: Data, event: Event) -> Decided:
    kind = event["type"]
    out = (call for call in calls_of(data) if runs(call) and tool_id(data["threadId"], call) == event["effectId"])
    call = next(out, None)
    if call is None or (kind == "tool.started" and call["started"]):
        raise _stale(event)
    problem = _problem_of_tool_event(call, event)
    if problem is not None:
        raise Refused("invalid", f'tool "{call["name"]}" {problem}')
    return {} if kind in ("tool.started", "tool.withheld") else decide_result(settings, data, call, event)


def _problem_of_tool_event(call: dict[str, Any], event: Event) -> Any:
    """Why an event can't be about a call that is out; None when it can. That a tool failed always can be."""
    kind, approval = event["type"], call["approval"] or {}
    if kind == "tool.failed":
        return None
    if call.get("by") == "caller":
        return None if kind == "tool.completed" else "is the caller's: no host runs it"
    if kind == "tool.withheld":
        # A call that was approved to run again is in doubt until it has run.
        granted_again = approval.get("status") == "granted" and approval.get("because") == "unknown_outcome"
        in_doubt = call["started"] or granted_again
        if event["because"] == "declared" and in_doubt:
            return "was started already: what is not known is its outcome"
        return "was never started: run it" if event["because"] == "unknown_outcome" and not in_doubt else None
    return "may not run before it is approved" if approval.get("status") == "required" else None


def _decide_approval(settings: Settings, data: Data, event: Event) -> Decided:
    asked = (call for call in calls_of(data) if approval_out(data["threadId"], call) == event["effectId"])
    call = next(asked, None)
    if call is None:
        raise _stale(event)
    digest = approval_digest(call["name"], call["approval"]["version"], call["approval"]["arguments"])
    if event.get("digest", digest) != digest:
        raise Refused("invalid", "the answer is about another call than was asked about")
    return {} if event["approved"] else decide_result(settings, data, call, event)


def _decide_timer(settings: Settings, data: Data, event: Event) -> Decided:
    turn, waking, queue, id = data["open"], data["waking"], data["queue"], event["effectId"]
    if waking is not None and queue and id == queue_id(data["threadId"], waking["seq"]):
        asks = next_of(settings, queue)
        opens = {} if len(asks) == 1 else {"opens": len(asks)}
        return {**opens, **decide_opening(settings, data, asks, event["at"])}
    if turn is None:
        raise _stale(event)
    if turn["deadlineAt"] is not None and id == deadline_id(data["threadId"], turn["number"]):
        allowed = turn["deadlineAt"] - turn["startedAt"]
        # A timer may come early by its host's clock; what is reached is never less than what is allowed.
        limit = {"limit": "deadlineMs", "allowed": allowed, "reached": max(allowed, event["at"] - turn["startedAt"])}
        return {"limit": limit, **interrupted_results(turn, "the deadline of the turn passed")}
    attempt = turn["stage"].get("attempt", 0)
    _awaited(event, turn, "backing_off", retry_id, data["threadId"], attempt)
    limit = limit_spent(settings, turn, event["at"])
    if limit is not None:
        return {"limit": limit}
    return decide_step(settings, data, says_nothing=turn["messages"]["length"] == 0)
