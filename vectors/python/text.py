"""Texts as JavaScript has them.

Lengths of texts in the state, and `kept` of a truncated answer, count UTF-16 units: a character beyond the
basic plane counts as two. A cut may go through such a pair, and leaves half of it, which is JSON all the same.
"""

from __future__ import annotations

import re
from typing import Any, Iterable

_WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))


# Python keeps a pair as one character, so what is left of this range stands alone.
_HALF = re.compile("[\ud800-\udfff]")


def utf16_length(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text) if text.isascii() else len(_encoded(text)) // 2


def utf16_prefix(text: str, units: int) -> str:
    """The first so many UTF-16 units of a text."""
    return text[:units] if text.isascii() else joined_halves(_encoded(text)[: 2 * units])


def utf16_units(text: str) -> Iterable[int]:
    """The UTF-16 units of a text, each a number of 16 bits."""
    if text.isascii():
        return text.encode("ascii")
    encoded = _encoded(text)
    return (encoded[index] | encoded[index + 1] << 8 for index in range(0, len(encoded), 2))


def utf16_order(text: str) -> bytes:
    """A key that sorts texts by their UTF-16 units, as JavaScript does; Python sorts by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def concatenated(left: str, right: str) -> str:
    """Two texts as one. Halves of a pair that meet are one character then, which Python would keep apart."""
    both = left + right
    return both if both.isascii() else joined_halves(_encoded(both))


def well_formed(value: Any) -> Any:
    """Plain data whose texts have no half of a pair: each is replaced by U+FFFD, since no server takes it."""
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", concatenated(value, ""))
    if isinstance(value, list):
        return [well_formed(each) for each in value]
    if isinstance(value, dict):
        return {well_formed(name): well_formed(member) for name, member in value.items()}
    return value


def trimmed(text: str) -> str:
    """A text without white space around it, by JavaScript's idea of white space."""
    return text.strip(_WHITE_SPACE)


def joined_halves(encoded: bytes) -> str:
    """The text of UTF-16 units, halves of pairs that stand alone included."""
    return encoded.decode("utf-16-le", "surrogatepass")


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
