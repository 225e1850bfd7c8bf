"""Events about the thread as a whole: it was forked, or words were taken out of its journal."""

from __future__ import annotations

from typing import Any

from chunks import to_array
from plan import Plan, no_effects
from text import trimmed
from tree import Turn, change_turn, turn_of
from turn_closing import drop
from usage import add_usage

Data = dict[str, Any]

REDACTED_TEXT = "[redacted]"


def fork_data(data: Data, event: dict[str, Any]) -> Plan:
    """A copy begins where another thread was: whatever was under way or waited there stays behind.

    Nothing is cancelled, since nothing of it is done here.
    """
    turn, usage = data["open"], data["usage"]
    asks = list(data["queue"])
    arrow = "stays"
    if turn is not None:
        asks = [*({"askId": ask["askId"], "at": ask["askedAt"]} for ask in turn["asks"]), *turn["joining"], *asks]
        # What a turn used that is none of the copy was used all the same.
        usage = {**usage, "betweenTurns": add_usage(usage["betweenTurns"], turn["usage"])}
        head = turn_of(data["conversation"], data["conversation"]["head"])
        arrow = "completed" if head is None or head["outcome"]["status"] == "completed" else "error"
    after = {
        **drop(data, asks, "left", event["at"]),
        "open": None,
        "queue": [],
        "waking": None,
        "summarising": None,
        "usage": usage,
        "forkedFrom": event["from"],
    }
    return Plan(after, arrow, no_effects)


def redact_data(data: Data) -> Data:
    """Words were taken out of the journal: what was measured was measured of others, and a summary of none is stale.

    The words themselves go with the entries that are rewritten: whoever folds those has a state without them.
    """
    thread = data["conversation"]
    for turn in to_array(thread["turns"]):
        if any(_says_nothing(summary["text"]) and "stale" not in summary for summary in turn.get("summaries", [])):
            thread = change_turn(thread, turn["number"], _withdrawn)
    return {**data, "measured": None, "conversation": thread}


def _says_nothing(text: str) -> bool:
    # A summary may have been written in several parts.
    return REDACTED_TEXT in text and trimmed(text.replace(REDACTED_TEXT, "")) == ""


def _withdrawn(turn: Turn) -> Turn:
    summaries = turn.get("summaries", [])
    return {
        **turn,
        "summaries": [{**each, "stale": True} if _says_nothing(each["text"]) else each for each in summaries],
    }
