"""What model calls used, and its sum.

Each field keeps what is known apart from how many calls did not report it, so an unknown figure neither counts
as zero nor swallows the known ones.
"""

from __future__ import annotations

from typing import Any, Optional

Usage = dict[str, Any]
Tally = dict[str, int]

_PARTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
_FIELDS = (*_PARTS, "totalTokens")


def no_usage() -> Usage:
    """The usage of no call at all."""
    return {"calls": 0, "unpriced": 0, "cost": {}, **{field: _tally(0, 0, 0) for field in _FIELDS}}


def usage_of_call(reported: Optional[dict[str, Any]], cost: Optional[dict[str, Any]]) -> Usage:
    """The usage of one call; `None` where nothing was reported, or no price is known."""
    known = reported or {}
    if "totalTokens" not in known and "inputTokens" in known and "outputTokens" in known:
        known = {**known, "totalTokens": known["inputTokens"] + known["outputTokens"]}
    tallies = {field: _tally_of(known.get(field)) for field in _FIELDS}
    return {
        "calls": 1,
        "unpriced": 1 if cost is None and not _used_nothing(known) else 0,
        "cost": {} if cost is None else {cost["currency"]: _tally_of(cost["nano"])},
        **tallies,
    }


def add_usage(left: Usage, right: Usage) -> Usage:
    """The sum of two usages."""
    cost = dict(left["cost"])
    for currency, tally in right["cost"].items():
        cost[currency] = _add_tally(cost.get(currency, _tally(0, 0, 0)), tally)
    return {
        "calls": left["calls"] + right["calls"],
        "unpriced": left["unpriced"] + right["unpriced"],
        "cost": cost,
        **{field: _add_tally(left[field], right[field]) for field in _FIELDS},
    }


def _used_nothing(known: dict[str, Any]) -> bool:
    """Zero in every field says that a call has no price to be known: a server refused it before it did anything."""
    return known.get("totalTokens") == 0 and all(known.get(field) == 0 for field in _PARTS)


def _tally(total: int, reported: int, unreported: int) -> Tally:
    return {"sum": total, "reported": reported, "unreported": unreported}


def _tally_of(value: Optional[int]) -> Tally:
    return _tally(0, 0, 1) if value is None else _tally(value, 1, 0)


def _add_tally(left: Tally, right: Tally) -> Tally:
    return {name: left[name] + right[name] for name in left}
