"""What asks say and bring, asks that join the open turn, and asks that wait."""

from __future__ import annotations

from typing import Any, Optional

from chunks import append_all
from digest import digest_of
from effect_ids import queue_id
from effects import publish
from messages import message_from_draft
from plan import Plan, led_by, staying
from turn_closing import drop, interrupt_turn

Ask = dict[str, Any]
Data = dict[str, Any]
Turn = dict[str, Any]


def drafts_of(ask: Ask) -> list[dict[str, Any]]:
    """The messages that an ask says."""
    if is_drafts(ask["input"]):
        return ask["input"]
    brought = {name: ask[name] for name in ("name", "metadata") if name in ask}
    return [{"role": "user", "content": ask["input"], **brought}]


def is_drafts(content: Any) -> bool:
    """Whether an ask's input is whole messages. An empty list is: it says nothing, and the model goes on."""
    return not isinstance(content, str) and all("role" in item and "type" not in item for item in content)


def ask_bringing(ask: Ask) -> dict[str, Any]:
    """An ask as one of its turn's."""
    brought = len(drafts_of(ask))
    return {"askId": ask["askId"], "askedAt": ask["at"], **({} if brought == 1 else {"messages": brought})}


def caller_tools_of(before: list[dict[str, Any]], asks: list[Ask]) -> dict[str, Any]:
    """The tools of a turn's askers, where they bring some: later ones over earlier ones of the same name."""
    tools = before
    for ask in asks:
        tools = _over(tools, ask.get("tools", []))
    return {"callerTools": tools} if tools else {}


def offered_with(configured: list[dict[str, Any]], turn: Turn) -> list[dict[str, Any]]:
    """What a call of the turn offers: the tools of the configuration, and behind them those of the askers."""
    return _over(configured, [offered_tool(tool) for tool in turn.get("callerTools", [])])


def offered_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as a call offers it: with a digest of what a model sees of it."""
    seen = {"name": tool["name"], "description": tool.get("description"), "parameters": tool.get("parameters")}
    return {"name": tool["name"], "digest": digest_of(seen)}


def join_turn(data: Data, turn: Turn, ask: Ask) -> Plan:
    """An ask joins the open turn, and waits for its next prompt."""
    joined = {**turn, "joining": [*turn["joining"], ask]}
    return staying({**data, "open": joined}, lambda: [publish("ask.joined", askId=ask["askId"], turn=turn["number"])])


def with_joined(turn: Turn) -> Turn:
    """The turn with what the asks say that joined it: as its next prompt shows it."""
    for ask in turn["joining"]:
        turn = _with_ask(turn, ask)
    return {**turn, "joining": []}


def enqueue(data: Data, ask: Ask, place: int, decided: dict[str, Any]) -> Plan:
    """An ask waits for a turn."""
    after = _superseding(data, ask, decided)
    queued = lambda: [publish("ask.queued", askId=ask["askId"], place=place)]
    return led_by(after.effects, staying({**after.data, "queue": [*after.data["queue"], ask]}, queued))


def interrupt_for(data: Data, ask: Ask, partial: Optional[dict[str, Any]], decided: dict[str, Any]) -> Plan:
    """The open turn is cancelled, and an ask is the next."""
    number = data["open"]["number"]
    after = _superseding(data, ask, decided)
    queue = [*after.data["queue"], ask]
    outcome = {"status": "cancelled", "reason": f'interrupted by ask "{ask["askId"]}"'}
    plan = interrupt_turn({**after.data, "queue": queue}, outcome, ask["at"], decided.get("results", []), partial)
    return led_by(
        lambda: [
            publish("turn.interrupted", turn=number, by=ask["askId"]),
            *after.effects(),
            publish("ask.queued", askId=ask["askId"], place=len(queue)),
        ],
        plan,
    )


def withdraw(data: Data, ask_id: str, at: int) -> Optional[Plan]:
    """An ask that waits, or one of several that the open turn answers, is withdrawn; None where there is none such."""
    turn, queue, waking = data["open"], data["queue"], data["waking"]
    others = lambda asks: [ask for ask in asks if ask["askId"] != ask_id]
    signal = publish("ask.withdrawn", askId=ask_id)
    if turn is not None:
        joining = [ask for ask in turn["joining"] if ask["askId"] == ask_id]
        if joining:
            left = {**turn, "joining": others(turn["joining"])}
            return staying({**drop(data, joining, "withdrawn", at), "open": left}, lambda: [signal])
        if is_shared(turn, ask_id):
            asked = next(ask["askedAt"] for ask in turn["asks"] if ask["askId"] == ask_id)
            dropped = drop(data, [{"askId": ask_id, "at": asked}], "withdrawn", at)
            return staying({**dropped, "open": {**turn, "asks": others(turn["asks"])}}, lambda: [signal])
    place = next((index for index, ask in enumerate(queue) if ask["askId"] == ask_id), None)
    if place is None:
        return None
    left = [*queue[:place], *queue[place + 1 :]]
    # With nobody left to wake, the timer goes.
    asleep = waking is not None and not left
    after = {**drop(data, [queue[place]], "withdrawn", at), "queue": left, "waking": None if asleep else waking}
    cancelled = [{"type": "cancelTimer", "effectId": queue_id(data["threadId"], waking["seq"])}] if asleep else []
    return staying(after, lambda: [*cancelled, signal])


def is_shared(turn: Turn, ask_id: str) -> bool:
    """Whether the open turn answers an ask, and others beside it, for which it goes on when that one is withdrawn."""
    return len(turn["asks"]) > 1 and any(ask["askId"] == ask_id for ask in turn["asks"])


def _with_ask(turn: Turn, ask: Ask) -> Turn:
    drafts = drafts_of(ask)
    said = [message_from_draft(f"{turn['number']}.{turn['made'] + index}", draft) for index, draft in enumerate(drafts)]
    brings_metadata = is_drafts(ask["input"]) and "metadata" in ask
    return {
        **turn,
        "asks": [*turn["asks"], ask_bringing(ask)],
        "messages": append_all(turn["messages"], said),
        "made": turn["made"] + len(said),
        "metadata": {**(turn["metadata"] or {}), **ask["metadata"]} if brings_metadata else turn["metadata"],
        "model": {**turn["model"], **ask.get("model", {})},
        **caller_tools_of(turn.get("callerTools", []), [ask]),
        "limits": {**turn["limits"], **ask.get("limits", {})},
        **({"output": ask["output"]} if "output" in ask else {}),
    }


def _superseding(data: Data, ask: Ask, decided: dict[str, Any]) -> Plan:
    """The queue is dropped in favour of an ask, where that was decided."""
    if not decided.get("supersedes"):
        return staying(data)
    waiting = data["queue"]
    after = {**drop(data, waiting, "superseded", ask["at"]), "queue": []}
    return staying(after, lambda: [publish("ask.superseded", askId=each["askId"], by=ask["askId"]) for each in waiting])


def _over(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {tool["name"] for tool in after}
    return [*(tool for tool in before if tool["name"] not in names), *after]
