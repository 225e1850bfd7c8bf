"""The effects that were asked for and are neither answered nor cancelled. After a crash, this is what is left to do."""

from __future__ import annotations

from typing import Any, Callable

from effect_ids import llm_id, summary_id
from effects import (
    Effect,
    call_llm,
    call_summary,
    call_tool,
    check_output,
    deadline_timer,
    queue_timer,
    request_approval,
    retry_timer,
    wait_timer,
)
from round_calls import is_requested


def outstanding(state: dict[str, Any]) -> list[Effect]:
    """The effects themselves, as they are by now. A summary's stands last, as it was asked for last."""
    return [build() for _, build in _waiting(state["context"])]


def outstanding_ids(state: dict[str, Any]) -> list[str]:
    """Their ids, for which no prompt has to be rendered."""
    return [id for id, _ in _waiting(state["context"])]


def _waiting(data: dict[str, Any]) -> list[tuple[str, Callable[[], Effect]]]:
    waiting = _of_turns(data)
    summarising = data["summarising"]
    if summarising is None:
        return waiting
    return [*waiting, (summary_id(data["threadId"], summarising["number"]), lambda: call_summary(data, summarising))]


def _of_turns(data: dict[str, Any]) -> list[tuple[str, Callable[[], Effect]]]:
    turn, waking, thread_id = data["open"], data["waking"], data["threadId"]
    if turn is None:
        return [] if waking is None else _as_they_are([queue_timer(thread_id, waking)])
    deadline, stage = deadline_timer(thread_id, turn), turn["stage"]
    if stage["type"] == "responding":
        id = llm_id(thread_id, turn["number"], turn["step"], stage["call"]["attempt"])
        return [*_as_they_are(deadline), (id, lambda: call_llm(data, turn))]
    if stage["type"] == "checking":
        return _as_they_are([*deadline, *check_output(thread_id, turn)])
    if stage["type"] == "compacting":
        return _as_they_are([*deadline, wait_timer(thread_id, turn)])
    if stage["type"] == "backing_off":
        return _as_they_are([*deadline, retry_timer(thread_id, turn)])
    calls = [
        request_approval(data, turn, position) if is_requested(call) else call_tool(data, turn, position)
        for position, call in enumerate(stage["calls"])
        if call["result"] is None
    ]
    return _as_they_are([*deadline, *calls])


def _as_they_are(effects: list[Effect]) -> list[tuple[str, Callable[[], Effect]]]:
    return [(effect["id"], lambda effect=effect: effect) for effect in effects]
