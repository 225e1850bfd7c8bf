"""What an accepted event comes to, and the states that arrows lead to."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

Data = dict[str, Any]
Effect = dict[str, Any]


class Plan(NamedTuple):
    """The data after an event, where the arrow leads, and what is wanted done."""

    data: Data
    arrow: str
    """`stays`, or the name of the state below which there is none: a key of `STATE_VALUES`."""
    effects: Callable[[], list[Effect]]
    """In the order in which they must be performed. Built only when asked for: folding a journal needs none."""


STATE_VALUES: dict[str, Any] = {
    "idle": "idle",
    "responding": {"awaiting_llm": "responding"},
    "compacting": {"awaiting_llm": "compacting"},
    "checking": {"awaiting_llm": "checking"},
    "backing_off": {"awaiting_llm": "backing_off"},
    "running": {"awaiting_tool": "running"},
    "awaiting_approval": {"awaiting_tool": "awaiting_approval"},
    "completed": "completed",
    "error": "error",
}


def follow(value: Any, arrow: str) -> Any:
    """The state that an arrow leads to, from another."""
    return value if arrow == "stays" else STATE_VALUES[arrow]


def no_effects() -> list[Effect]:
    """Of what asks for nothing."""
    return []


def staying(data: Data, effects: Callable[[], list[Effect]] = no_effects) -> Plan:
    """What leads nowhere else."""
    return Plan(data, "stays", effects)


def led_by(effects: Callable[[], list[Effect]], plan: Plan) -> Plan:
    """The plan with effects in front of its own."""
    return plan._replace(effects=lambda: [*effects(), *plan.effects()])
