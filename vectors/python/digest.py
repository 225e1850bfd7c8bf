"""Canonical text of JSON, and the digests of messages, prompts and other values.

A digest is 53 bits in base 36. The mixing is that of cyrb53 over UTF-16 units, with one difference: each piece
of text is closed by a mark that no unit can be, so that "ab" + "c" and "a" + "bc" differ. It is not cryptographic.
"""

from __future__ import annotations

import json
import re
from typing import Any, Optional

from text import utf16_order, utf16_units

_WORD = 0xFFFFFFFF  # all arithmetic is modulo 2 ** 32
_HIGH_FACTOR = 2654435761
_LOW_FACTOR = 1597334677
_END_MARK = 0x10000
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def digest_of_message(message: dict[str, Any]) -> str:
    """The digest of what a model would see of a message: neither its id nor its metadata nor its marks."""
    mixer = Mixer()
    mixer.add(message["role"])
    mixer.add(message.get("name", ""))
    for part in message["parts"]:
        _add_part(mixer, part)
    _add_provider(mixer, message)
    return mixer.digest()


def digest_of_prompt(messages: list[dict[str, Any]], output: Optional[dict[str, Any]] = None) -> str:
    """The digest of a prompt: of its messages' digests, and of what its answer has to be."""
    mixer = Mixer()
    for message in messages:
        mixer.add(message["digest"])
    if output is not None:
        mixer.add(canonical_text(output))
    return mixer.digest()


def digest_of(value: Any) -> str:
    """The digest of any JSON value, the same whatever the order of its members."""
    mixer = Mixer()
    mixer.add(canonical_text(value))
    return mixer.digest()


def canonical_text(value: Any) -> str:
    """JSON with sorted keys and no spaces, as JavaScript writes it: equal for equal values."""
    if isinstance(value, dict):
        members = (f"{_text(key)}:{canonical_text(value[key])}" for key in sorted(value, key=utf16_order))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return js_number(value)


class Mixer:
    """Mixes pieces of text, each closed by a mark."""

    def __init__(self) -> None:
        self._high = 0xDEADBEEF
        self._low = 0x41C6CE57

    def add(self, text: str) -> None:
        high, low = self._high, self._low
        for unit in utf16_units(text):
            high = (high ^ unit) * _HIGH_FACTOR & _WORD
            low = (low ^ unit) * _LOW_FACTOR & _WORD
        self._high = (high ^ _END_MARK) * _HIGH_FACTOR & _WORD
        self._low = (low ^ _END_MARK) * _LOW_FACTOR & _WORD

    def digest(self) -> str:
        high, low = self._high, self._low
        first = _mixed(high, 16, 2246822507) ^ _mixed(low, 13, 3266489909)
        second = _mixed(low, 16, 2246822507) ^ _mixed(first, 13, 3266489909)
        return _in_base_36((second & 0x1FFFFF) << 32 | first)


def _mixed(word: int, shift: int, factor: int) -> int:
    return (word ^ word >> shift) * factor & _WORD


def _in_base_36(value: int) -> str:
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _add_part(mixer: Mixer, part: dict[str, Any]) -> None:
    kind = part["type"]
    mixer.add(kind)
    if kind in ("text", "refusal", "reasoning"):
        mixer.add(part["text"])
        _add_provider(mixer, part)
    elif kind == "data":
        mixer.add(part["field"])
        mixer.add(canonical_text(part["value"]))
    elif kind == "image":
        mixer.add(part["url"])
        mixer.add(part.get("detail", ""))
    elif kind == "opaque":
        mixer.add(canonical_text(part["value"]))
    elif kind == "toolCall":
        mixer.add(part["providerCallId"] or "")
        mixer.add(part["name"])
        mixer.add(part["arguments"])
        _add_provider(mixer, part)
    elif kind == "toolResult":
        mixer.add(part["providerCallId"] or "")
        mixer.add(str(len(part["content"])))
        for inner in part["content"]:
            _add_part(mixer, inner)


def _add_provider(mixer: Mixer, holder: dict[str, Any]) -> None:
    # Added where there is none as well, so that fields of a message and fields of its last part differ.
    mixer.add(canonical_text(holder["provider"]) if "provider" in holder else "")


def _text(text: str) -> str:
    """As `JSON.stringify` writes a text: all is left as it is but quotes, controls, and halves of pairs."""
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", json.dumps(text, ensure_ascii=False))


def js_number(value: Any) -> str:
    """As JavaScript writes a number, all of which have 64 bits: 1, 0.5, 1e+21, 1e-7."""
    number = float(value)
    if number == int(number) and abs(number) < 2**53:
        return str(int(number))
    sign, digits, exponent = re.fullmatch(r"(-?)([\d.]+)(?:e(.+))?", repr(number)).groups()
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    # The number is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.lstrip("0").rstrip("0")
    if 0 < point <= 21:
        return sign + (digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
