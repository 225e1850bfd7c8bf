"""One step of a conversation, and the start of a thread."""

from __future__ import annotations

from typing import Any

from decide import decide
from decide_edit import problem_of_calls
from event_shape import problem_of_beginning, problem_of_event
from fold import JOURNAL_FORMAT, begin
from messages import SeedError
from plan import follow
from settings import Refused, Settings
from update import update

State = dict[str, Any]


def start(settings: Settings, thread_input: dict[str, Any]) -> dict[str, Any]:
    """Begins a thread: `state`, no `effects`, the first `entry`. Raises SeedError for what no thread begins with."""
    problem = problem_of_beginning(thread_input) or problem_of_calls(thread_input.get("seed", []), may_call=True)
    if problem is not None:
        raise SeedError(problem)
    event = {"type": "thread.started", **thread_input, "configuration": settings.configuration}
    return {
        "state": {"value": "idle", "context": begin(event)},
        "effects": [],
        "entry": {"seq": 0, "format": JOURNAL_FORMAT, "event": event},
    }


def transition(settings: Settings, state: State, event: dict[str, Any], recovered: bool = False) -> dict[str, Any]:
    """What an event comes to: `state`, `effects` and `entry`; or a `refusal`, and then nothing has changed.

    The entry is to be stored first; then the effects are performed, in their order. `recovered` marks an entry that
    stands in place of an answer that a crash swallowed.
    """
    try:
        decided = _decided(settings, state, event)
    except Refused as refused:
        turn = {} if refused.turn is None else {"turn": refused.turn}
        return {"refusal": {"kind": refused.kind, "reason": refused.reason, **turn}}
    plan = update(state["context"], event, decided)
    return {
        "state": {"value": follow(state["value"], plan.arrow), "context": plan.data},
        "effects": plan.effects(),
        "entry": {
            "seq": plan.data["seq"],
            "event": event,
            **({"decided": decided} if decided else {}),
            **({"recovered": True} if recovered else {}),
        },
    }


def _decided(settings: Settings, state: State, event: Any) -> dict[str, Any]:
    problem = problem_of_event(event)
    if problem is not None:
        raise Refused("invalid", problem)
    return decide(settings, state["context"], event)
