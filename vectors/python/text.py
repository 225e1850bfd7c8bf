"""Texts as JavaScript has them.

Lengths of texts in the state, and `kept` of a truncated answer, count UTF-16 units: a character beyond the
basic plane counts as two. A cut may go through such a pair, and leaves half of it, which is JSON all the same.
"""

from __future__ import annotations

import re
import unicodedata
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


_JOINER = "\u200d"
# Where emoji are, and what is reserved for them.
_PICTURES = ((0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2139), (0x2194, 0x21AA), (0x231A, 0x23FF), (0x25AA, 0x27BF))
_MORE_PICTURES = ((0x2934, 0x2935), (0x2B05, 0x2B55), (0x3030, 0x303D), (0x3297, 0x3299), (0x1F000, 0x1FAFF))


def units_of_characters(text: str, characters: int) -> int:
    """How many UTF-16 units the first so many characters of a text take."""
    # Halves of pairs that stand together in JSON are one code point in Python, as they have to be here.
    end = 0
    for _ in range(characters):
        if end == len(text):
            break
        end = _end_of_grapheme(text, end)
    return utf16_length(text[:end])


def _end_of_grapheme(text: str, start: int) -> int:
    end = start + 1
    while end < len(text) and not _breaks(text, start, end):
        end += 1
    return end


def _breaks(text: str, start: int, at: int) -> bool:
    """Whether a grapheme that began at `start` ends before `at`."""
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return False
    if _is_control(before) or _is_control(after):
        return True
    if _extends(after) or unicodedata.category(after) == "Mc":
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        # A flag has two letters: the third begins another.
        return at - start != 1
    if before == _JOINER and _is_picture(after):
        # Marks and colours may stand between the picture and what joins it.
        first = next(each for each in range(at - 1, start - 1, -1) if each == start or not _extends(text[each]))
        return not _is_picture(text[first])
    return not _goes_on_in_hangul(before, after)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or (
        unicodedata.category(character) == "Cf" and character not in ("\u200c", _JOINER) and not _is_tag(character)
    )


def _extends(character: str) -> bool:
    colours = 0x1F3FB <= ord(character) <= 0x1F3FF
    joins = character in ("\u200c", _JOINER)
    return colours or joins or _is_tag(character) or unicodedata.category(character) in ("Mn", "Me")


def _is_tag(character: str) -> bool:
    return 0xE0020 <= ord(character) <= 0xE007F


def _is_flag_letter(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _is_picture(character: str) -> bool:
    if character in "\u00a9\u00ae":
        return True
    return any(first <= ord(character) <= last for first, last in (*_PICTURES, *_MORE_PICTURES))


def _goes_on_in_hangul(before: str, after: str) -> bool:
    left, right = _hangul(before), _hangul(after)
    return (left == "L" and right in ("L", "V", "LV", "LVT")) or (
        left in ("V", "LV") and right in ("V", "T") or left in ("T", "LVT") and right == "T"
    )


def _hangul(character: str) -> str:
    """Which part of a syllable a letter is: leading, vowel, trailing, or several of them."""
    code = ord(character)
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    for part, first, last in (("L", 0x1100, 0x115F), ("V", 0x1160, 0x11A7), ("T", 0x11A8, 0x11FF)):
        if first <= code <= last:
            return part
    return ""
