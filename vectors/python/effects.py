"""Effects: what the machine wants done, built from the data."""

from __future__ import annotations

from typing import Any, Callable, Optional

from chunks import at, to_array
from digest import digest_of, digest_of_prompt
from effect_ids import (
    approval_out,
    check_id,
    deadline_id,
    is_requested,
    llm_id,
    queue_id,
    retry_id,
    summary_id,
    tool_id,
    wait_id,
)
from messages import text_of
from prompt import render
from tree import size_of_path

Data = dict[str, Any]
Effect = dict[str, Any]


def publish(type: str, **members: Any) -> Effect:
    """A signal for observers."""
    return {"type": "publish", "signal": {"type": type, **members}}


def thread_updated(data: Data) -> Effect:
    """Tells that what was said is another, and how much that is now."""
    return publish("thread.updated", **size_of_path(data["conversation"]), usage=data["usage"]["total"])


def call_llm(data: Data, turn: dict[str, Any]) -> Effect:
    """The model call that the open turn waits for, with its prompt as it was when it was asked for.

    So it shows the pins, the system message and the cut of the call, and not those that the thread has by now.
    """
    call, output = turn["stage"]["call"], wanted_output(turn)
    thread = {**data["conversation"], "pins": call["pins"]}
    messages = render(thread, call["cut"], call["system"], to_array(turn["messages"]))
    return {
        "type": "callLlm",
        "id": llm_id(data["threadId"], turn["number"], turn["step"], call["attempt"]),
        **_place(data["threadId"], turn),
        "attempt": call["attempt"],
        "purpose": "answer",
        "messages": messages,
        "promptDigest": digest_of_prompt(messages, output),
        "model": _model_of_step(turn),
        **({"tools": call["tools"]} if "tools" in call else {}),
        **({} if output is None else {"output": output}),
        **_idle_timeout(call),
    }


def _model_of_step(turn: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a step's call. A choice that forces a call holds for the first step of a turn."""
    if turn["step"] <= 1:
        return turn["model"]
    return {
        name: value
        for name, value in turn["model"].items()
        if not (name in ("tool_choice", "toolChoice") and _forces_call(value))
    }


def _forces_call(choice: Any) -> bool:
    if choice is None:
        return False
    if isinstance(choice, str):
        return choice not in ("auto", "none")
    if not isinstance(choice, dict):
        return False
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools")
        return (allowed.get("mode") if isinstance(allowed, dict) else choice.get("mode")) == "required"
    return choice.get("type") not in ("auto", "none")


def call_summary(data: Data, summarising: dict[str, Any]) -> Effect:
    """The model call that writes a summary.

    Without its messages: how a summary is asked for is no part of the profile that this machine has.
    """
    return {
        "type": "callLlm",
        "id": summary_id(data["threadId"], summarising["number"]),
        "threadId": data["threadId"],
        "turn": summarising["turn"] or 0,
        "step": 0,
        "attempt": 1,
        "purpose": "summary",
        "model": summarising["model"],
        "tools": [],
        **_idle_timeout(summarising),
    }


def check_output(thread_id: str, turn: dict[str, Any]) -> list[Effect]:
    """The check whether the newest message of the open turn is the output that was asked for."""
    output = wanted_output(turn)
    if output is None:
        return []
    reply = at(turn["messages"], turn["messages"]["length"] - 1)
    return [
        {
            "type": "checkOutput",
            "id": check_id(thread_id, turn["number"], turn["step"]),
            **_place(thread_id, turn),
            "attempt": len(turn.get("refusedOutputs", [])) + 1,
            "text": "" if reply is None else text_of(reply),
            "output": output,
        }
    ]


def wanted_output(turn: dict[str, Any]) -> Optional[dict[str, Any]]:
    """What the answer of the open turn has to be; how often it may be repaired is the machine's affair alone."""
    output = turn.get("output")
    return None if output is None else {name: output[name] for name in ("name", "schema", "mode")}


def queue_timer(thread_id: str, waking: dict[str, Any]) -> Effect:
    """The timer that opens the next turn from the queue."""
    return _timer(thread_id, queue_id(thread_id, waking["seq"]), "queue", waking["dueAt"])


def deadline_timer(thread_id: str, turn: dict[str, Any]) -> list[Effect]:
    """The timer that bounds a turn; none where it has no deadline."""
    due_at = turn["deadlineAt"]
    return [] if due_at is None else [_timer(thread_id, deadline_id(thread_id, turn["number"]), "deadline", due_at)]


def retry_timer(thread_id: str, turn: dict[str, Any]) -> Effect:
    """The timer between two attempts of a model call."""
    stage = turn["stage"]
    id = retry_id(thread_id, turn["number"], turn["step"], stage["attempt"])
    return _timer(thread_id, id, "retry", stage["dueAt"])


def wait_timer(thread_id: str, turn: dict[str, Any]) -> Effect:
    """The timer that bounds the wait for a summary."""
    stage = turn["stage"]
    id = wait_id(thread_id, turn["number"], turn["step"], stage["attempt"])
    return _timer(thread_id, id, "summary", stage["dueAt"])


def call_tool(data: Data, turn: dict[str, Any], position: int) -> Effect:
    """A tool call of the round that is under way."""
    call = turn["stage"]["calls"][position]
    approval = call["approval"]
    if approval is not None:
        required = approval["status"] == "required"
        approval = "required" if required else {name: approval[name] for name in ("because", "version", "arguments")}
    return {
        "type": "callTool",
        "id": tool_id(data["threadId"], call),
        **_place(data["threadId"], turn),
        "position": position,
        **{name: call[name] for name in ("attempt", "callId", "providerCallId", "name", "arguments", "started")},
        **({"by": call["by"]} if "by" in call else {}),
        "approval": approval,
    }


def request_approval(data: Data, turn: dict[str, Any], position: int) -> Effect:
    """The question whether a call may run."""
    call = turn["stage"]["calls"][position]
    asked = {name: call["approval"][name] for name in ("because", "version", "arguments")}
    return {
        "type": "requestApproval",
        "id": approval_out(data["threadId"], call),
        **_place(data["threadId"], turn),
        "position": position,
        "callId": call["callId"],
        "name": call["name"],
        **asked,
        "digest": approval_digest(call["name"], asked["version"], asked["arguments"]),
    }


def approval_digest(name: str, version: Optional[str], arguments: Any) -> str:
    """A digest of what an approval is about: the tool, its version, and the arguments as validated."""
    return digest_of({"name": name, "version": version, "arguments": arguments})


def _place(thread_id: str, turn: dict[str, Any]) -> dict[str, Any]:
    return {"threadId": thread_id, "turn": turn["number"], "step": turn["step"]}


def _idle_timeout(call: dict[str, Any]) -> dict[str, Any]:
    return {} if call["idleTimeoutMs"] is None else {"idleTimeoutMs": call["idleTimeoutMs"]}


def _timer(thread_id: str, id: str, purpose: str, due_at: int) -> Effect:
    return {"type": "startTimer", "id": id, "threadId": thread_id, "purpose": purpose, "dueAt": due_at}


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
