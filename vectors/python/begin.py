"""The data of a thread that has just begun."""

from __future__ import annotations

from typing import Any

from chunks import empty_chunks
from messages import messages_from_seed, system_message
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
