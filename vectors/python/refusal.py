"""Why an event changed nothing."""

from __future__ import annotations

from typing import Optional


class Refused(Exception):
    """An event that does not fit.

    `stale`: the answer, or the ask, was had before, or is no longer awaited. `busy`: a turn is open. `full`: so is
    the queue. `unknown`: it names something that is not there. `invalid`: it fits no state, or not this thread.
    """

    def __init__(self, kind: str, reason: str, turn: Optional[int] = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        """For a person: no vector compares it."""
        self.turn = turn
        """The turn that answers, or answered, an ask that is repeated."""
