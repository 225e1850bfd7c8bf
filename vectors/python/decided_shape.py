"""The shape of what was decided of an event, as a journal has it."""

from __future__ import annotations

from typing import Any

from event_shape import content_parts
from shape import Shape, is_count, list_of, nullable, number, one_of, only, optional, text, true_or_absent

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
