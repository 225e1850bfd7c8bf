"""What replies, failures, checks and results of tools lead to."""

from __future__ import annotations

import math
from typing import Any, Optional

from asks import drafts_of
from digest import digest_of
from effect_ids import calls_of, retry_id
from prompt import decide_cut, same_cut, showing_something
from replies import may_repair
from settings import Settings
from usage import add_usage, usage_of_call

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


Event = dict[str, Any]
Decided = dict[str, Any]

# What providers call it when a reply is not whole, in lower case and with `_`.
_CUT_REASONS = frozenset(
    """length max_tokens max_output_tokens model_length model_context_window_exceeded content_filter content_filtered
    guardrail_intervened incomplete insufficient_system_resource malformed_function_call unexpected_tool_call safety
    image_safety recitation language blocklist prohibited_content spii refusal error abort aborted cancelled canceled
    """.split()
)

# Beyond so many doublings every delay is the longest.
_MOST_DOUBLINGS = 40


def decide_reply(settings: Settings, data: Data, event: Event) -> Decided:
    """What a reply leads to: unknown tools are answered, limits are checked for the batch, the next prompt is cut."""
    spent, calls = _with_call(data["open"], event), event["reply"].get("toolCalls", [])
    if not calls:
        if "output" not in spent:
            return _with_answer_there(settings, data, spent, event)
        unchecked = _why_unchecked(event)
        return {} if unchecked is None else {"unchecked": unchecked}
    limit = limit_before_batch(settings, spent, len(calls), event["at"])
    if limit is not None:
        text = f"Not run: the limit of this turn ({limit['limit']} {limit['allowed']}) is reached."
        return {"limit": limit, "results": [synthesised(position, "refused", text) for position in range(len(calls))]}
    if _says_cut(event["finishReason"]):
        # The model may not have finished writing them, so none of them runs.
        reason = event["finishReason"]
        text = (
            f"Not run: the reply was cut off before the call was complete ({reason}). "
            "Call again, with less text if the reply was too long."
        )
        cut = [synthesised(position, "refused", text) for position in range(len(calls))]
        return _with_next_step(settings, data, spent, {"results": cut}, event)
    results = [
        synthesised(position, "refused", _no_such_tool(settings, spent, call["name"]))
        for position, call in enumerate(calls)
        if settings.unknown_tool != "ask" and call["name"] not in _tools_of(settings, spent)
    ]
    known = {"results": results} if results else {}
    if len(results) < len(calls):
        return {**known, **_approvals_for(settings, spent, calls)}
    # No tool is there: the model hears so at once.
    return _with_next_step(settings, data, spent, known, event)


def decide_failure(settings: Settings, data: Data, event: Event) -> Decided:
    """What a failed call leads to: another attempt, when it may help and may be made."""
    spent = _with_call(data["open"], event)
    if event["failure"]["kind"] == "context_length":
        # The policies that are here have nothing more to leave out.
        return {}
    attempt = spent["stage"]["call"]["attempt"] + 1
    timer_id = retry_id(data["threadId"], spent["number"], spent["step"], attempt)
    due_at = _retry_at(settings.retry, event["failure"], attempt, event["at"], timer_id)
    if due_at is None or limit_spent(settings, spent, due_at) is not None:
        return {}
    return {"retry": {"attempt": attempt, "dueAt": due_at}}


def decide_check(settings: Settings, data: Data, event: Event) -> Decided:
    """What it leads to that an answer is, or is not, the output that was asked for."""
    turn = data["open"]
    if event["type"] == "output.accepted":
        return _with_answer_there(settings, data, turn, event)
    return _with_next_step(settings, data, turn, {}, event) if may_repair(turn, event) else {}


def decide_result(settings: Settings, data: Data, answered: dict[str, Any], event: Event) -> Decided:
    """What the result of a call leads to: of the last one of a round the next prompt, or the limit that forbids it."""
    others = (call for call in calls_of(data) if call is not answered)
    if any(call["result"] is None for call in others):
        return {}
    return _with_next_step(settings, data, data["open"], {}, event)


def _with_answer_there(settings: Settings, data: Data, spent: Turn, event: Event) -> Decided:
    """The turn has its answer, and ends; or goes on for asks that joined it, where they can be shown at once."""
    if not spent["joining"]:
        return {}
    further = _with_next_step(settings, data, spent, {"goesOn": True}, event)
    # Else they are given back.
    return {} if "limit" in further else further


def _with_next_step(settings: Settings, data: Data, spent: Turn, decided: Decided, event: Event) -> Decided:
    limit = limit_before_call(settings, spent, event["at"])
    return {**decided, "limit": limit} if limit is not None else {**decided, **decide_step(settings, data)}


def _with_call(turn: Turn, event: Event) -> Turn:
    """The turn with what a call of it used."""
    return {**turn, "usage": add_usage(turn["usage"], usage_of_call(event.get("usage"), None))}


def _why_unchecked(event: Event) -> Optional[str]:
    """Why a reply can't be an output; None where it may be one."""
    content = event["reply"].get("content", "")
    if not isinstance(content, str) and any(part["type"] == "refusal" for part in content):
        return "refused"
    return "cut" if _says_cut(event["finishReason"]) else None


def _says_cut(finish_reason: Optional[str]) -> bool:
    """Whether a reply is not whole."""
    return finish_reason is not None and finish_reason.lower().replace("-", "_") in _CUT_REASONS


def _tools_of(settings: Settings, turn: Turn) -> list[str]:
    """The names of the machine's tools and, behind them, of the callers'."""
    return list(dict.fromkeys([*settings.tool_names, *(tool["name"] for tool in turn.get("callerTools", []))]))


def _no_such_tool(settings: Settings, turn: Turn, name: str) -> str:
    return f'There is no tool "{name}". The tools are: {", ".join(_tools_of(settings, turn)) or "none"}.'


def _approvals_for(settings: Settings, turn: Turn, calls: list[dict[str, Any]]) -> Decided:
    """The calls that run only once they are approved. A caller's tool never is one, whatever the machine declares."""
    callers = {tool["name"] for tool in turn.get("callerTools", [])}
    guarded = {tool["name"] for tool in settings.tools if tool.get("approval") == "always"} - callers
    approvals = [position for position, call in enumerate(calls) if call["name"] in guarded]
    return {"approvals": approvals} if approvals else {}


def _retry_at(retry: dict[str, Any], failure: dict[str, Any], attempt: int, at: int, timer_id: str) -> Optional[int]:
    """When a failed call is made again; None when it is not.

    Exponential backoff with jitter between half and all of the delay, derived from the id of the timer, so that the
    same failure waits the same time in every replay. A wait that the server asked for is never cut short.
    """
    if not failure["retryable"] or attempt > retry["attempts"] or failure["kind"] not in retry["kinds"]:
        return None
    asked = failure.get("retryAfterMs", 0)
    if asked > retry["maxRetryAfterMs"]:
        return None
    delay = min(retry["maxDelayMs"], retry["baseDelayMs"] * 2 ** min(attempt - 2, _MOST_DOUBLINGS))
    fraction = int(digest_of(timer_id)[-6:], 36) % 1000 / 1000
    # As JavaScript rounds: a half goes up. Python's own `round` goes to the even number.
    return at + max(asked, math.floor(delay * (0.5 + fraction / 2) + 0.5))
