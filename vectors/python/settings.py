"""How a machine decides: its options, with their defaults."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class Settings(NamedTuple):
    """The options of a machine, as far as the profile `core` has them."""

    tools: list[dict[str, Any]]
    limits: dict[str, Optional[int]]
    overlap: dict[str, Any]
    interrupted: str
    unknown_tool: str
    retry: dict[str, Any]
    policy: dict[str, Any]
    configuration: dict[str, Any]
    """What `thread.started` journals. It has a fingerprint of all options, so it is given and not made here."""

    @property
    def tool_names(self) -> list[str]:
        return [tool["name"] for tool in self.tools]


# A model that calls a tool in every step must come to an end.
_DEFAULT_STEPS = 50

_DEFAULT_RETRY = {
    "attempts": 3,
    "baseDelayMs": 500,
    "maxDelayMs": 30_000,
    "maxRetryAfterMs": 120_000,
    "kinds": ["rate_limit", "overloaded", "timeout", "network", "truncated", "unknown"],
}

_KNOWN_POLICIES = {("keep-all", 1), ("last-turns", 1)}


def settings_of(machine: dict[str, Any]) -> Settings:
    """The settings that the `machine` of a vector names. Raises ValueError for a policy that is not here."""
    policy = machine.get("policy", {"name": "keep-all", "version": 1, "options": {}})
    if (policy["name"], policy["version"]) not in _KNOWN_POLICIES:
        raise ValueError(f"there is no policy {policy['name']}@{policy['version']} here")
    return Settings(
        tools=machine.get("tools", []),
        limits={"steps": _DEFAULT_STEPS, **machine.get("limits", {})},
        overlap=machine.get("overlap", {"type": "reject"}),
        interrupted=machine.get("interrupted", "keep"),
        unknown_tool=machine.get("unknownTool", "result"),
        retry={**_DEFAULT_RETRY, **machine.get("retry", {})},
        policy=policy,
        configuration=machine["configuration"],
    )


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
