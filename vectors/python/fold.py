"""The state after a journal: the one that the transitions gave. Needs no configuration."""

from __future__ import annotations

from typing import Any

from chunks import empty_chunks
from messages import SeedError, messages_from_seed, system_message
from plan import follow
from update import update
from usage import no_usage


def begin(started: dict[str, Any]) -> dict[str, Any]:
    """The data after `thread.started`. Raises SeedError where the seed is no conversation."""
    seed = messages_from_seed(0, started.get("seed", []))
    system = system_message(1, started["system"]) if "system" in started else None
    return {
        "threadId": started["threadId"],
        "seq": 0,
        "createdAt": started["at"],
        "updatedAt": started["at"],
        "metadata": started.get("metadata", {}),
        "conversation": {
            "system": system,
            "systems": 0 if system is None else 1,
            "firstSystem": system,
            "seed": seed,
            "turns": empty_chunks(),
            "head": 0,
            "appended": [],
            "pins": [],
            "shortened": [],
            "checkpoints": {},
        },
        "usage": {"total": no_usage(), "betweenTurns": no_usage()},
        "open": None,
        "queue": [],
        "waking": None,
        "cut": None,
        "configuration": started.get("configuration", {"fingerprint": ""}),
        "model": started.get("model", {}),
        "summarising": None,
        "summaries": 0,
        "fullness": "within",
        "measured": None,
        "room": None,
        "dropped": [],
        "forkedFrom": None,
    }


State = dict[str, Any]
Entry = dict[str, Any]

JOURNAL_FORMAT = 2  # of the journals that this machine reads and writes


class JournalError(ValueError):
    """Why a list is no journal: at which entry, and the kind of problem.

    `format`: it is another than that of this machine, or none. `event`: no event has that type.
    `beginning`: there is none, or another. `sequence`: a gap or a repetition. `shape`: a member has a value that it
    can't have.
    """

    def __init__(self, seq: int, kind: str, reason: str) -> None:
        super().__init__(f"entry {seq}: {reason}")
        self.seq = seq
        self.kind = kind


def fold(entries: list[Entry]) -> State:
    """The state after a journal, or a prefix of one. Raises JournalError."""
    if not entries:
        raise JournalError(0, "beginning", "the journal is empty")
    state = fold_first(entries[0])
    for index, entry in enumerate(entries[1:], start=1):
        if entry["seq"] != index:
            raise JournalError(index, "sequence", f"entry {entry['seq']} stands where {index} should")
        state = fold_entry(state, entry)
    return state


def fold_first(entry: Entry) -> State:
    """The state after the first entry. Raises JournalError."""
    try:
        return {"value": "idle", "context": begin(entry["event"])}
    except SeedError as error:
        raise JournalError(0, "shape", f"the seed is no conversation: {error}") from error


def fold_entry(state: State, entry: Entry) -> State:
    """The state after one more entry."""
    plan = update(state["context"], entry["event"], entry.get("decided", {}))
    return {"value": follow(state["value"], plan.arrow), "context": plan.data}
