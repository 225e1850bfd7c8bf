"""What replies, failures, checks and results of tools lead to."""

from __future__ import annotations

import math
from typing import Any, Optional

from decide_step import decide_step, limit_before_batch, limit_before_call, limit_spent, synthesised
from digest import digest_of
from effect_ids import retry_id
from outputs import may_repair
from round_calls import calls_of
from settings import Settings
from usage import add_usage, usage_of_call

Data = dict[str, Any]
Turn = dict[str, Any]
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
