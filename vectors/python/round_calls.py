"""The calls of the round that is under way: which of them run, and which wait for an approval."""

from __future__ import annotations

from typing import Any, Optional

Call = dict[str, Any]


def calls_of(data: dict[str, Any]) -> list[Call]:
    """The calls of the open round; empty while there is none."""
    turn = data["open"]
    return turn["stage"]["calls"] if turn is not None and turn["stage"]["type"] == "running" else []


def all_answered(calls: list[Call]) -> bool:
    """Whether each call has its result."""
    return all(call["result"] is not None for call in calls)


def some_run(calls: list[Call]) -> bool:
    """Whether an unanswered call runs or may run. Where none does, the unanswered ones wait for approval."""
    return any(map(runs, calls))


def is_requested(call: Call) -> bool:
    """Whether somebody is asked to approve a call; that the call may be answered meanwhile is not looked at."""
    return call["approval"] is not None and call["approval"]["status"] == "requested"


def tool_id(thread_id: str, call: Call) -> str:
    """The id of the effect that runs a call."""
    return f"{thread_id}/{call['callId']}#{call['attempt']}"


def approval_out(thread_id: str, call: Call) -> Optional[str]:
    """The id of the question whether a call may run; None while nobody is asked."""
    if call["result"] is not None or not is_requested(call):
        return None
    return f"{thread_id}/{call['callId']}!approval-{call['approval']['number']}"


def runs(call: Call) -> bool:
    """Whether a call is unanswered, and runs or may run: one whose approval is asked for does not."""
    return call["result"] is None and not is_requested(call)
