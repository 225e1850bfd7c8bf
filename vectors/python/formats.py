"""Formats of the journal. Each journal begins with the first, and rises by a `thread.configured` entry."""

from __future__ import annotations

from typing import Any

FIRST_FORMAT = 1
JOURNAL_FORMAT = 2  # the newest that this machine reads and writes
OUTPUT_FORMAT = 2  # asks for an output, and tools of the caller, came with it


def format_of(data: dict[str, Any]) -> int:
    """The format that the journal of a thread has."""
    return data.get("format", FIRST_FORMAT)


def needed_format(event: dict[str, Any]) -> int:
    """The format that a journal must have for an event."""
    if event["type"] in ("round.appended", "output.accepted", "output.refused"):
        return 2
    if event["type"] == "ask.received" and any(name in event for name in ("from", "tools", "output")):
        return 2
    return FIRST_FORMAT
