"""Drafts as messages, and what is read of a message.

A draft is what a host hands in: `content` is a text or a list of parts. A message has an id, parts and a digest.
"""

from __future__ import annotations

from typing import Any, Optional

from digest import digest_of_message
from text import concatenated, well_formed

Message = dict[str, Any]

_KEPT_FIELDS = ("name", "metadata", "provider")


def message_from_draft(id: str, draft: dict[str, Any]) -> Message:
    """The message that a draft describes."""
    return _with_digest({"id": id, "role": draft["role"], "parts": _parts_of(draft["content"]), **_fields_of(draft)})


def message_from_reply(id: str, prefix: str, reply: dict[str, Any]) -> Message:
    """The assistant message that a reply describes; its calls are `prefix.0`, `prefix.1`, …"""
    calls = [
        {
            "type": "toolCall",
            "callId": call_id_in(prefix, position),
            "providerCallId": call["id"],
            "name": call["name"],
            "arguments": call["arguments"],
            **({"provider": call["provider"]} if "provider" in call else {}),
        }
        for position, call in enumerate(reply.get("toolCalls", []))
    ]
    parts = [*_parts_of(reply.get("content", [])), *calls]
    return _with_digest({"id": id, "role": "assistant", "parts": parts, **_fields_of(reply)})


def message_from_partial(id: str, partial: Optional[dict[str, Any]]) -> Optional[Message]:
    """What was shown of a reply that ended early, or None. Its calls are left out: they may not be whole."""
    if partial is None:
        return None
    said = {name: value for name, value in partial.items() if name != "toolCalls"}
    message = message_from_reply(id, id, said)
    return {**message, "incomplete": True} if message["parts"] else None


def join_partials(shown: Optional[dict[str, Any]], added: dict[str, Any]) -> dict[str, Any]:
    """What was shown of a reply, with what is new of it: text that goes on is joined."""
    shown = shown or {}
    parts = list(_parts_of(shown.get("content", [])))
    for part in _parts_of(added.get("content", [])):
        last = parts[-1] if parts else None
        if last is not None and _goes_on(last) and _goes_on(part) and last["type"] == part["type"]:
            parts[-1] = {**last, "text": concatenated(last["text"], part["text"])}
        else:
            parts.append(part)
    return {**shown, **added, "content": parts}


def message_from_result(call: dict[str, Any], outcome: str, content: Any) -> Message:
    """The tool message that answers a call, under the id of the call. No content is an empty one."""
    result = {
        "type": "toolResult",
        "callId": call["callId"],
        "providerCallId": call["providerCallId"],
        "name": call["name"],
        "outcome": outcome,
        "content": [] if content is None else _parts_of(content),
    }
    return _with_digest({"id": call["callId"], "role": "tool", "parts": [result]})


def with_parts(message: Message, parts: list[dict[str, Any]]) -> Message:
    """The same message with other parts, and the digest that goes with them."""
    return _with_digest({**message, "parts": parts})


def system_message(revision: int, system: Any) -> Message:
    """The message of a system prompt: of a text, or of a draft under `system` or `developer`."""
    draft = {"role": "system", "content": system} if isinstance(system, str) else system
    return message_from_draft(f"s{revision}", draft)


def call_id_in(prefix: str, position: int) -> str:
    """The id of a tool call of a reply."""
    return f"{prefix}.{position}"


def tool_calls_of(message: Message) -> list[dict[str, Any]]:
    """The calls that a message asks for, in their order."""
    return [part for part in message["parts"] if part["type"] == "toolCall"]


def tool_result_of(message: Message) -> Optional[dict[str, Any]]:
    """The result that a tool message carries."""
    return next((part for part in message["parts"] if part["type"] == "toolResult"), None)


def text_of(message: Message) -> str:
    """The text of a message: its text parts joined; of a tool message, those of its result."""
    result = tool_result_of(message)
    text = ""
    for part in message["parts"] if result is None else result["content"]:
        if part["type"] == "text":
            text = concatenated(text, part["text"])
    return text


class SeedError(ValueError):
    """Drafts that are no conversation."""


def messages_from_seed(turn: int, drafts: list[dict[str, Any]], first_id: int = 0) -> list[Message]:
    """The messages that drafts of an earlier conversation describe, with ids `turn.first_id` and so on.

    A message with calls has to be followed at once by one result for each call. They may come in any order, each
    under the provider's id of its call, and are put in the order of the calls; the first call of an id that several
    have gets the first result. Raises SeedError where that does not hold.
    """
    messages: list[Message] = []
    calls: list[dict[str, Any]] = []
    results: dict[str, Message] = {}
    for index, draft in enumerate(drafts):
        if draft["role"] == "tool":
            wanted = well_formed(draft["toolCallId"])
            open_calls = [each for each in calls if each["callId"] not in results]
            call = next((each for each in open_calls if each["providerCallId"] == wanted), None)
            if call is None:
                raise SeedError(f"message {index} is the result of a call that no message just before it asked for")
            results[call["callId"]] = message_from_result(call, "completed", draft["content"])
            if len(results) == len(calls):
                messages += [results[each["callId"]] for each in calls]
            continue
        if len(results) < len(calls):
            raise SeedError(f"a call has no result before message {index}")
        id = f"{turn}.{first_id + index}"
        # The calls of a seed have the id of their message in front, as there are no steps.
        message = message_from_reply(id, id, draft) if draft["role"] == "assistant" else message_from_draft(id, draft)
        messages.append(message)
        calls, results = tool_calls_of(message), {}
    if len(results) < len(calls):
        raise SeedError("a call has no result at the end")
    return messages


def _with_digest(message: Message) -> Message:
    """Makes each message, and makes its text well-formed: no server takes half of a surrogate pair."""
    whole = well_formed(message)
    return {**whole, "digest": digest_of_message(whole)}


def _parts_of(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _fields_of(draft: dict[str, Any]) -> dict[str, Any]:
    return {name: draft[name] for name in _KEPT_FIELDS if name in draft}


def _goes_on(part: dict[str, Any]) -> bool:
    # Fields of the provider, such as a signature, are about the part as it came.
    return "text" in part and "provider" not in part
