"""What the next model call shows, and the limits that stand before it."""

from __future__ import annotations

from typing import Any, Optional

from asks import drafts_of
from policies import decide_cut, same_cut, showing_something
from settings import Settings

Data = dict[str, Any]
Turn = dict[str, Any]
Limit = dict[str, Any]


def decide_opening(settings: Settings, data: Data, asks: list[dict[str, Any]], at: int) -> dict[str, Any]:
    """What the opening of a turn decides: its deadline, and the first prompt or the limit that forbids it."""
    limits = dict(settings.limits)
    for ask in asks:
        limits.update(ask.get("limits", {}))
    limit = _opening_limit(limits)
    if limit is not None:
        return {"limit": limit}
    deadline = {"deadlineAt": at + limits["deadlineMs"]} if "deadlineMs" in limits else {}
    says_nothing = not any(map(drafts_of, asks)) and not data["conversation"]["appended"]
    return {**deadline, **decide_step(settings, data, says_nothing)}


def decide_step(settings: Settings, data: Data, says_nothing: bool = False) -> dict[str, Any]:
    """What the next call shows of closed turns, where that is not what the last one did.

    `data` is that before the event: no event that leads to a call changes closed turns, but an ask that moves the
    head, of which this is given the data with the head moved. `says_nothing`: the turn holds no message yet.
    """
    thread, last = data["conversation"], data["cut"]
    cut, failed = decide_cut(settings.policy, settings.interrupted, thread, last), None
    # Asks that joined the turn are shown by its next call, and say something.
    if says_nothing and not (data["open"] is not None and data["open"]["joining"]):
        cut, failed = showing_something(cut, thread)
    return {
        **({} if failed is None else {"policyFailed": failed}),
        **({} if same_cut(last, cut) else {"cut": cut}),
    }


def limit_before_call(settings: Settings, turn: Turn, at: int) -> Optional[Limit]:
    """The limit that stands before the next model call of a turn; None for none."""
    steps = _limits_of(settings, turn).get("steps")
    if steps is not None and turn["step"] + 1 > steps:
        return {"limit": "steps", "allowed": steps, "reached": turn["step"] + 1}
    return limit_spent(settings, turn, at)


def limit_before_batch(settings: Settings, turn: Turn, batch: int, at: int) -> Optional[Limit]:
    """The limit that stands before a whole batch of tool calls; None for none."""
    most, reached = _limits_of(settings, turn).get("toolCalls"), turn["toolCalls"] + batch
    if most is not None and reached > most:
        return {"limit": "toolCalls", "allowed": most, "reached": reached}
    return limit_spent(settings, turn, at)


def limit_spent(settings: Settings, turn: Turn, at: int) -> Optional[Limit]:
    """The limit that a turn has used up, whatever comes next; None for none."""
    limits = _limits_of(settings, turn)
    used = {
        "tokens": turn["usage"]["totalTokens"]["sum"],
        "costNano": sum(tally["sum"] for tally in turn["usage"]["cost"].values()),
    }
    for name, reached in used.items():
        if name in limits and reached >= limits[name]:
            return {"limit": name, "allowed": limits[name], "reached": reached}
    if turn["deadlineAt"] is None or at < turn["deadlineAt"]:
        return None
    allowed = turn["deadlineAt"] - turn["startedAt"]
    return {"limit": "deadlineMs", "allowed": allowed, "reached": at - turn["startedAt"]}


def interrupted_results(turn: Turn, because: str) -> dict[str, Any]:
    """Results for the calls of the open turn that have none, because it stops."""
    if turn["stage"]["type"] != "running":
        return {}
    return {
        "results": [
            synthesised(position, "interrupted", f"Interrupted: {because} before {_awaited(call)}.")
            for position, call in enumerate(turn["stage"]["calls"])
            if call["result"] is None
        ]
    }


def synthesised(position: int, outcome: str, text: str) -> dict[str, Any]:
    """A result that the machine gives in a tool's place. The model reads its words."""
    return {"position": position, "outcome": outcome, "content": [{"type": "text", "text": text}]}


def _awaited(call: dict[str, Any]) -> str:
    if call.get("by") == "caller":
        return "the caller answered"
    asked = call["approval"] is not None and call["approval"]["status"] == "requested"
    return "the call was approved" if asked else "the tool answered"


def _opening_limit(limits: dict[str, Optional[int]]) -> Optional[Limit]:
    """A limit of zero ends a turn at once. One for tool calls does not: the model may answer without."""
    for name in ("steps", "tokens", "costNano", "deadlineMs"):
        if limits.get(name) == 0:
            return {"limit": name, "allowed": 0, "reached": 1 if name == "steps" else 0}
    return None


def _limits_of(settings: Settings, turn: Turn) -> dict[str, Optional[int]]:
    return {**settings.limits, **turn["limits"]}
