"""Lists in nested chunks, as the state has them.

`levels[0]` holds the newest elements, at most 31. `levels[k]` holds full nodes of 32 ** k elements each, all of
them older than anything on a lower level. So appending copies little, at 10 elements and at 100,000.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional

Chunks = dict[str, Any]

CHUNK_SIZE = 32


def empty_chunks() -> Chunks:
    """A list without elements."""
    return {"length": 0, "levels": [[]]}


def chunks_of(elements: Iterable[Any]) -> Chunks:
    """A list of the given elements."""
    return append_all(empty_chunks(), elements)


def append(chunks: Chunks, element: Any) -> Chunks:
    """The list with one more element at its end."""
    levels = list(chunks["levels"])
    carried, level = element, 0
    while True:
        nodes = [*(levels[level] if level < len(levels) else []), carried]
        full = len(nodes) == CHUNK_SIZE
        levels[level : level + 1] = [[] if full else nodes]
        if not full:
            return {"length": chunks["length"] + 1, "levels": levels}
        # A full chunk is one node of the level above.
        carried, level = nodes, level + 1


def append_all(chunks: Chunks, elements: Iterable[Any]) -> Chunks:
    """The list with more elements at its end."""
    for element in elements:
        chunks = append(chunks, element)
    return chunks


def to_array(chunks: Chunks) -> list[Any]:
    """All elements, oldest first."""
    elements: list[Any] = []
    for level in reversed(range(len(chunks["levels"]))):
        nodes = chunks["levels"][level]
        for _ in range(level):
            nodes = [inner for node in nodes for inner in node]
        elements += nodes
    return elements


def at(chunks: Chunks, index: int) -> Optional[Any]:
    """The element at an index, from 0; None outside the list."""
    if not 0 <= index < chunks["length"]:
        return None
    for level in reversed(range(len(chunks["levels"]))):
        nodes = chunks["levels"][level]
        held = len(nodes) * CHUNK_SIZE**level
        if index < held:
            return _within(nodes, level, index)
        index -= held
    return None


def replace_at(chunks: Chunks, index: int, element: Any) -> Chunks:
    """The list with another element at an index; the same list outside it."""
    if not 0 <= index < chunks["length"]:
        return chunks
    levels = list(chunks["levels"])
    for level in reversed(range(len(levels))):
        held = len(levels[level]) * CHUNK_SIZE**level
        if index < held:
            levels[level] = _replaced(levels[level], level, index, element)
            break
        index -= held
    return {**chunks, "levels": levels}


def _within(nodes: list[Any], level: int, offset: int) -> Any:
    for depth in range(level, 0, -1):
        nodes = nodes[offset // CHUNK_SIZE**depth]
        offset %= CHUNK_SIZE**depth
    return nodes[offset]


def _replaced(nodes: list[Any], level: int, offset: int, element: Any) -> list[Any]:
    size = CHUNK_SIZE**level
    place = offset // size
    changed = element if level == 0 else _replaced(nodes[place], level - 1, offset % size, element)
    return [*nodes[:place], changed, *nodes[place + 1 :]]
