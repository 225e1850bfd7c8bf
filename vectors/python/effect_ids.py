"""Ids of effects, and what an answer is about.

Ids are derived from thread, turn, step, position and attempt. Folding compares them without the thread, so a
journal that was copied under another thread id folds to the same conversation.
"""

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


Data = dict[str, Any]


def llm_id(thread_id: str, turn: int, step: int, attempt: int) -> str:
    """The id of a model call."""
    return f"{thread_id}/{turn}.{step}#{attempt}"


def summary_id(thread_id: str, number: int) -> str:
    """The id of the model call that writes a summary."""
    return f"{thread_id}/summary-{number}#1"


def check_id(thread_id: str, turn: int, step: int) -> str:
    """The id of the check whether the reply of a step is the output that was asked for."""
    return f"{thread_id}/{turn}.{step}!output"


def retry_id(thread_id: str, turn: int, step: int, attempt: int) -> str:
    """The id of the timer between two attempts of a model call."""
    return f"{thread_id}/{turn}.{step}#{attempt}!retry"


def wait_id(thread_id: str, turn: int, step: int, attempt: int) -> str:
    """The id of the timer that bounds the wait for a summary."""
    return f"{thread_id}/{turn}.{step}#{attempt}!summary"


def deadline_id(thread_id: str, turn: int) -> str:
    """The id of the timer that bounds a turn."""
    return f"{thread_id}/{turn}!deadline"


def queue_id(thread_id: str, seq: int) -> str:
    """The id of the timer that opens the next turn from the queue; `seq` is that of the entry that started it."""
    return f"{thread_id}/{seq}!queue"


def step_id(turn: int, step: int) -> str:
    """What the ids of the tool calls of a step begin with."""
    return f"{turn}.{step}"


def is_same_effect(left: str, right: Optional[str]) -> bool:
    """Whether two ids are those of the same effect, thread aside; no id is that of none."""
    return right is not None and _place_in(left) == _place_in(right)


def is_of_summary(data: Data, effect_id: str) -> bool:
    """Whether an effect's id is that of the summary that is being written."""
    summarising = data["summarising"]
    return summarising is not None and is_same_effect(effect_id, summary_id(data["threadId"], summarising["number"]))


def awaits_reply(data: Data, effect_id: str) -> bool:
    """Whether an effect's id is that of the model call that the open turn waits for."""
    turn = data["open"]
    if turn is None or turn["stage"]["type"] != "responding":
        return False
    attempt = turn["stage"]["call"]["attempt"]
    return is_same_effect(effect_id, llm_id(data["threadId"], turn["number"], turn["step"], attempt))


def awaits_check(data: Data, effect_id: str) -> bool:
    """Whether an effect's id is that of the check that the open turn waits for."""
    turn = data["open"]
    if turn is None or turn["stage"]["type"] != "checking":
        return False
    return is_same_effect(effect_id, check_id(data["threadId"], turn["number"], turn["step"]))


def position_out(data: Data, effect_id: str) -> Optional[int]:
    """The position of the unanswered call whose run has this id, whether its approval is asked for or not; or None."""
    for position, call in enumerate(calls_of(data)):
        if call["result"] is None and is_same_effect(effect_id, tool_id(data["threadId"], call)):
            return position
    return None


def position_asked(data: Data, effect_id: str) -> Optional[int]:
    """The position of the call whose approval is asked for under this id; None where none is."""
    ids = [approval_out(data["threadId"], call) for call in calls_of(data)]
    return next((position for position, id in enumerate(ids) if is_same_effect(effect_id, id)), None)


def _place_in(effect_id: str) -> str:
    # A thread's id may hold slashes; what follows the last one never does.
    return effect_id.rpartition("/")[2]
