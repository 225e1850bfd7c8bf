"""Reads what was stored: a journal, or why it is none.

Members that nobody knows are kept, but not among what was decided: folding applies that, so a decision of a later
version has to stop it.
"""

from __future__ import annotations

from typing import Any, Optional

from event_shape import DECIDED, EVENTS, LIMITS, problem_of_beginning, problem_of_event
from fold import Entry, JOURNAL_FORMAT, JournalError
from shape import ABSENT, Shape, is_count, is_plain, number, optional, true_or_absent

_MOST_NESTED = 256


def read_journal(values: list[Any]) -> list[Entry]:
    """The entries that values are, to be folded. Raises JournalError; gaps are found by folding."""
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise JournalError(index, "shape", "it is no entry")
        if index == 0:
            _check_first(value)
        else:
            _check_later(value, index)
    return values


def _check_first(entry: dict[str, Any]) -> None:
    format, event = entry.get("format"), entry.get("event")
    if number(format) and format != JOURNAL_FORMAT:
        raise JournalError(0, "format", f"this reads journals of format {JOURNAL_FORMAT}, not {format}")
    if not isinstance(event, dict):
        raise JournalError(0, "shape", "it has no event")
    if event.get("type") != "thread.started":
        raise JournalError(0, "beginning", 'a journal begins with "thread.started"')
    _refuse(0, problem_of_beginning(event) or _problem_of_entry(entry))
    if not _is(entry.get("seq"), 0):
        raise JournalError(0, "sequence", "its first entry is missing")
    if not _is(format, JOURNAL_FORMAT):
        raise JournalError(0, "format", "it says no format")


def _check_later(entry: dict[str, Any], index: int) -> None:
    event = entry.get("event")
    if not isinstance(event, dict):
        raise JournalError(index, "shape", "it has no event")
    kind = event.get("type")
    if kind == "thread.started":
        raise JournalError(index, "beginning", "a second beginning")
    if not isinstance(kind, str) or kind not in EVENTS:
        raise JournalError(index, "event", f"{kind!r} is no type of event")
    _refuse(index, problem_of_event(event) or _problem_of_journalled(event) or _problem_of_entry(entry))
    if not is_count(entry.get("seq")) or entry["seq"] == 0:
        raise JournalError(index, "sequence", "it has no place")


def _problem_of_journalled(event: dict[str, Any]) -> Optional[str]:
    """What a machine would refuse as invalid, whatever its state: so no journal has it."""
    kind = event["type"]
    if kind == "ask.received" and event["askId"] == "":
        return "an ask needs an id"
    limits = event.get("limits", {}) if kind == "ask.received" else {}
    if not all(is_count(limits[name]) for name in LIMITS if name in limits):
        return "a limit is a whole number of 0 or more"
    if kind == "round.appended" and not event["reply"].get("toolCalls"):
        return "a round has at least one tool call"
    return None


def _problem_of_entry(entry: dict[str, Any]) -> Optional[str]:
    if not is_plain(entry, _MOST_NESTED):
        return "it is nested too deep"
    members: dict[str, Shape] = {"redacted": true_or_absent, "recovered": true_or_absent, "decided": optional(DECIDED)}
    wrong = next((name for name, shape in members.items() if not shape(entry.get(name, ABSENT))), None)
    return None if wrong is None else f"{wrong} is not what it has to be"


def _refuse(index: int, problem: Optional[str]) -> None:
    if problem is not None:
        raise JournalError(index, "shape", problem)


def _is(value: Any, whole: int) -> bool:
    return is_count(value) and value == whole
