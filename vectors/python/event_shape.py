"""Whether a value has the shape of an event, or of what a thread begins with."""

from __future__ import annotations

from typing import Any, Optional

from shape import (
    ABSENT,
    Shape,
    by,
    count_or,
    flag,
    having,
    is_count,
    is_plain,
    json_object,
    json_value,
    list_of,
    nullable,
    number,
    one_of,
    only,
    optional,
    text,
    text_or,
    true_or_absent,
)

_MOST_NESTED = 254  # an entry holds the event, a journal the entry, and 256 levels can be read again


def problem_of_event(value: Any) -> Optional[str]:
    """Why a value is no event that a thread may get; None where it is one."""
    if not isinstance(value, dict):
        return "an event is an object with a type"
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in EVENTS:
        return f"{kind!r} is no type of event"
    return _problem(value, {"at": number, **EVENTS[kind]}, kind)


def problem_of_beginning(value: Any) -> Optional[str]:
    """Why no thread can begin with a value; None where one can."""
    return _problem(value, _BEGINNING, "thread.started")


def _problem(value: dict[str, Any], members: dict[str, Shape], kind: str) -> Optional[str]:
    if not is_plain(value, _MOST_NESTED):
        return f'"{kind}" is nested too deep, or has a member that JavaScript objects do not keep'
    wrong = next((name for name, shape in members.items() if not shape(value.get(name, ABSENT))), None)
    return None if wrong is None else f'"{kind}": {wrong} is not what it has to be'


_provider = optional(json_object)
_metadata = optional(json_object)
_name = optional(text)

_content_parts: dict[str, Shape] = {
    "text": having(text=text, provider=_provider),
    "data": having(field=text, value=json_value),
    "image": having(url=text, detail=optional(text)),
    "opaque": having(value=json_object),
}
_said = having(text=text, provider=_provider)
content_parts = list_of(by("type", _content_parts))
_reply_parts = list_of(by("type", {**_content_parts, "reasoning": _said, "refusal": _said}))
_content = text_or(content_parts)

_message = having(
    role=one_of("system", "developer", "user", "assistant"),
    content=_content,
    name=_name,
    metadata=_metadata,
    provider=_provider,
)
_tool_call = having(id=nullable(text), name=text, arguments=text, provider=_provider)
_reply_fields: dict[str, Shape] = {
    "content": optional(text_or(_reply_parts)),
    "toolCalls": optional(list_of(_tool_call)),
    "name": _name,
    "provider": _provider,
}
_reply = having(**_reply_fields)
_seed_message = by(
    "role",
    {
        "tool": having(toolCallId=nullable(text), content=_content),
        "assistant": having(**_reply_fields, metadata=_metadata),
        **dict.fromkeys(("system", "developer", "user"), _message),
    },
)
_system = text_or(
    having(role=one_of("system", "developer"), content=_content, name=_name, provider=_provider)
)


def _ask_input(value: Any) -> bool:
    """A text, its parts, or whole messages: those of one list are of one kind."""
    if not isinstance(value, list):
        return isinstance(value, str)
    whole = all(isinstance(item, dict) and "role" in item and "type" not in item for item in value)
    return list_of(_message)(value) if whole else content_parts(value)


_tokens = optional(is_count)
_usage = optional(
    having(
        **dict.fromkeys(("inputTokens", "outputTokens", "totalTokens"), _tokens),
        **dict.fromkeys(("cacheReadTokens", "cacheWriteTokens", "reasoningTokens"), _tokens),
        provider=_provider,
    )
)
_failure_kinds = ("rate_limit", "overloaded", "auth", "bad_request", "context_length", "content_filter", "timeout")
_failure = having(
    kind=one_of(*_failure_kinds, "network", "truncated", "unknown"),
    message=text,
    retryable=flag,
    retryAfterMs=optional(is_count),
    status=optional(is_count),
    code=optional(text),
)
_limits = having(
    steps=optional(nullable(number)),
    **dict.fromkeys(("toolCalls", "tokens", "costNano", "deadlineMs"), optional(number)),
)
_configuration = having(
    fingerprint=text,
    model=optional(json_object),
    idleTimeoutMs=optional(is_count),
    summariser=optional(having(instruction=text, model=optional(json_object))),
    tools=optional(list_of(having(name=text, digest=text))),
)
_caller_tool = having(name=text, description=optional(text), parameters=optional(json_object))
_output = having(name=text, schema=json_object, mode=one_of("native", "tool", "prompted"), repairs=is_count)
_head = count_or(having(checkpoint=text))
_issue = having(message=text, path=optional(list_of(count_or(text))))
_failed = ("failed", "refused", "interrupted", "unknown")
_answer: dict[str, Shape] = {"effectId": text}
_of_call: dict[str, Shape] = {
    **_answer, "usage": _usage, "promptDigest": optional(text), "model": optional(text)
}

EVENTS: dict[str, dict[str, Shape]] = {
    "ask.received": {
        "askId": text,
        "input": _ask_input,
        "name": _name,
        "metadata": _metadata,
        "model": optional(json_object),
        "limits": optional(_limits),
        "tools": optional(list_of(_caller_tool)),
        "overlap": optional(one_of("reject", "queue", "merge", "latest", "interrupt", "steer")),
        "joins": optional(having(askId=optional(text))),
        "from": optional(_head),
        "output": optional(_output),
        "partial": optional(_reply),
    },
    "message.appended": {"message": _message},
    "round.appended": {
        "reply": _reply,
        "results": list_of(having(outcome=one_of("completed", *_failed), content=nullable(_content))),
        "metadata": _metadata,
    },
    "system.changed": {"system": nullable(_system)},
    "system.reset": {},
    "llm.completed": {
        **_of_call, "reply": _reply, "finishReason": nullable(text), "responseId": optional(text)
    },
    "llm.failed": {**_of_call, "failure": _failure, "partial": optional(_reply)},
    "llm.progressed": {**_answer, "partial": _reply, "again": true_or_absent},
    "output.accepted": {**_answer, "value": json_value},
    "output.refused": {**_answer, "issues": list_of(_issue), "checkFailed": true_or_absent},
    "tool.started": _answer,
    "tool.withheld": {
        **_answer, "because": one_of("declared", "unknown_outcome"), "version": optional(text), "arguments": json_value
    },
    "approval.answered": {
        **_answer, "approved": flag, **dict.fromkeys(("digest", "reason", "by"), optional(text))
    },
    "tool.completed": {**_answer, "content": nullable(_content)},
    "tool.failed": {**_answer, "outcome": one_of(*_failed), "content": _content},
    "timer.fired": _answer,
    "cancel.requested": {
        "askId": optional(text), "reason": optional(text), "partial": optional(_reply), "usage": _usage
    },
    "turn.added": {"messages": list_of(_seed_message), "metadata": _metadata},
    "turn.annotated": {"turn": is_count, "name": text, "value": json_value, "metadata": _metadata},
    "answer.truncated": {"turn": is_count, "characters": is_count},
    "head.moved": {"to": _head},
    "checkpoint.named": {"name": text},
    "message.pinned": {"message": text, "pinned": flag},
    "metadata.changed": {"metadata": json_object},
    "thread.forked": {"from": having(threadId=text, turn=is_count)},
    "thread.redacted": {"seqs": list_of(is_count), "reason": optional(text)},
    "thread.configured": {"configuration": _configuration, "model": optional(json_object)},
}

_BEGINNING: dict[str, Shape] = {
    "threadId": lambda value: text(value) and value != "",
    "at": number,
    "seed": optional(list_of(_seed_message)),
    "system": optional(_system),
    "metadata": _metadata,
    "model": optional(json_object),
    "configuration": optional(_configuration),
}


LIMITS = ("steps", "toolCalls", "tokens", "costNano", "deadlineMs")
_SHORTEST_SHRINK = 200  # UTF-16 units, below which nothing is shrunk


def _positive(value: Any) -> bool:
    return number(value) and value > 0


def _turns(**more: Shape) -> Shape:
    """Turns from one to another, which does not stand before it."""
    shape = only(**{"from": is_count, "to": is_count}, **more)
    return lambda value: shape(value) and value["from"] <= value["to"]


_position = only(turn=is_count, unit=is_count)
_fields = only(omit=optional(list_of(text)), inputs=optional(list_of(text)))
_shrink = only(
    rule=one_of("clear", "headAndTail", "reference"),
    of=one_of("toolResults", "messages"),
    characters=lambda value: is_count(value) and value >= _SHORTEST_SHRINK,
    before=optional(_position),
    tool=optional(text),
)
_cut = only(
    **{"from": nullable(_position)},
    policy=text,
    dropped=optional(list_of(text)),
    summarised=optional(_turns(upTo=is_count)),
    shrink=optional(list_of(_shrink)),
    fields=optional(_fields),
    system=optional(one_of("omit")),
    interrupted=one_of("keep", "omit"),
    calibration=optional(_positive),
)
_limit = only(
    limit=one_of(*LIMITS),
    allowed=number,
    reached=number,
)
_unfit = only(
    tokens=number,
    available=number,
    budget=is_count,
    reserve=is_count,
    fixed=number,
    largest=nullable(only(message=text, tokens=number)),
)
_summary = only(
    covers=_turns(),
    earlier=nullable(_turns()),
    interrupted=optional(one_of("omit")),
    fields=optional(_fields),
    characters=optional(is_count),
    unfit=optional(only(tokens=number, available=number)),
)
_result = only(
    position=is_count,
    outcome=one_of("failed", "refused", "interrupted", "unknown"),
    content=content_parts,
)
_fullness = only(
    **{"is": one_of("within", "approaching_limit", "at_limit")},
    tokens=number,
    available=number,
)
DECIDED = only(
    queued=optional(is_count),
    supersedes=true_or_absent,
    interrupts=true_or_absent,
    joins=true_or_absent,
    goesOn=true_or_absent,
    opens=optional(lambda value: is_count(value) and value > 0),
    approvals=optional(list_of(is_count)),
    deadlineAt=optional(number),
    cut=optional(_cut),
    room=optional(is_count),
    retry=optional(only(attempt=is_count, dueAt=number)),
    unchecked=optional(one_of("refused", "cut")),
    results=optional(list_of(_result)),
    limit=optional(_limit),
    unfit=optional(_unfit),
    compacting=optional(only(dueAt=number)),
    summary=optional(_summary),
    summaryFailed=optional(text),
    summaryStale=true_or_absent,
    fullness=optional(_fullness),
    counted=optional(lambda value: number(value) and value >= 0),
    cost=optional(only(nano=lambda value: number(value) and value == int(value), currency=text)),
    policyFailed=optional(text),
    kept=optional(is_count),
)
