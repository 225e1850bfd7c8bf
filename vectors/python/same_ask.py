"""Whether an ask that is repeated says what the first one said."""

from __future__ import annotations

from typing import Any, Optional

from asks import drafts_of
from chunks import at, to_array
from edits import REDACTED_TEXT
from messages import Message, message_from_draft
from turn_closing import REMEMBERED

Data = dict[str, Any]
Ask = dict[str, Any]
Turn = dict[str, Any]


def says_the_same(data: Data, ask: Ask) -> bool:
    """Whether an ask under a known id says what the first one did.

    True as well where that can't be known any more, as no turn answers the first, or its words were taken out.
    """
    turn, ask_id = data["open"], ask["askId"]
    waiting = [*data["queue"], *([] if turn is None else turn["joining"])]
    for first in waiting:
        if first["askId"] == ask_id:
            return _digests_of(first) == _digests_of(ask)
    if turn is not None and is_among(turn["asks"], ask_id):
        return _is_said_in(turn, ask)
    answered = turn_answering_ask(data, ask_id)
    return answered is None or _is_said_in(answered, ask)


def turn_answering_ask(data: Data, ask_id: str) -> Optional[Turn]:
    """The newest closed turn that answers an ask, of those that are remembered."""
    turns = data["conversation"]["turns"]
    for index in range(turns["length"] - 1, max(turns["length"] - REMEMBERED, 0) - 1, -1):
        if is_among(at(turns, index)["asks"], ask_id):
            return at(turns, index)
    return None


def is_among(asks: list[Ask], ask_id: str) -> bool:
    """Whether one of some asks has an id."""
    return any(ask["askId"] == ask_id for ask in asks)


def _is_said_in(turn: Turn, ask: Ask) -> bool:
    """Whether an ask brought just these messages to the turn that answers it.

    They stand there in one piece, in the order of the asks, and as many as were counted. Other asks brought theirs
    before and behind. What was appended around them looks like them; what a model said does not.
    """
    digests, asks = _digests_of(ask), turn["asks"]
    place = next(index for index, each in enumerate(asks) if each["askId"] == ask["askId"])
    if len(digests) != asks[place].get("messages", 1):
        return False
    messages = to_array(turn["messages"])
    not_models = [index for index, message in enumerate(messages) if not _is_models(message, turn)]
    first = _brought_by(asks[:place])
    end = (not_models[-1] + 1 if not_models else 0) - _brought_by(asks[place + 1 :])

    def is_here(start: int) -> bool:
        said = messages[start : start + len(digests)]
        return all(
            not _is_models(message, turn) and (message["digest"] == digest or _is_redacted(message))
            for message, digest in zip(said, digests)
        )

    return not digests or any(is_here(start) for start in range(first, end - len(digests) + 1))


def _brought_by(asks: list[Ask]) -> int:
    return sum(ask.get("messages", 1) for ask in asks)


def _is_models(message: Message, turn: Turn) -> bool:
    """Whether a message is surely none that an ask brought."""
    if message["id"] == turn.get("answer") or message["role"] == "tool" or message.get("incomplete"):
        return True
    return any(part["type"] == "toolCall" for part in message["parts"])


def _is_redacted(message: Message) -> bool:
    words = [part.get("text", part.get("value")) for part in message["parts"] if part["type"] in ("text", "data")]
    return REDACTED_TEXT in words


def _digests_of(ask: Ask) -> list[str]:
    return [message_from_draft("", draft)["digest"] for draft in drafts_of(ask)]
