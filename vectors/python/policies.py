"""What the next prompt shows, as the policies `keep-all` and `last-turns` decide it."""

from __future__ import annotations

from typing import Any, Optional

from prompt import Cut, is_left_out, render
from tree import Thread, turns_on_path
from units import is_older

Start = Optional[dict[str, int]]
"""Where a prompt begins; None for the beginning of the thread."""

# Behind all closed turns, those to come included. The number is the largest that JavaScript counts to.
NOWHERE = {"turn": 2**53 - 1, "unit": 0}


def decide_cut(policy: dict[str, Any], interrupted: str, thread: Thread, last_cut: Optional[Cut]) -> Cut:
    """What a policy shows of the closed turns. `last_cut` is what it decided last, or another policy did."""
    return {
        "policy": f"{policy['name']}@{policy['version']}",
        "from": _start(policy, _numbers_newest_first(thread, interrupted), last_cut),
        "interrupted": interrupted,
    }


def showing_something(cut: Cut, thread: Thread) -> tuple[Cut, Optional[str]]:
    """The cut for a turn that has no message yet, and why it is not the policy's own.

    An ask that says nothing lives from what is shown of the thread. Where a policy shows none of it, all is shown;
    but a thread that holds nothing is asked with its system message alone.
    """
    everything = {"policy": "keep-all@1", "from": None, "interrupted": "keep"}
    if render(thread, cut, None, []) or not render(thread, everything, None, []):
        return cut, None
    return everything, f"{cut['policy']} shows nothing of the thread, and the ask says nothing itself"


def same_cut(left: Optional[Cut], right: Cut) -> bool:
    """Whether two cuts show the same: how they were calibrated is no part of it."""
    return left is not None and {**left, "calibration": 1} == {**right, "calibration": 1}


def _start(policy: dict[str, Any], numbers: list[int], last_cut: Optional[Cut]) -> Start:
    if policy["name"] == "keep-all":
        return None
    count, slack = policy["options"]["count"], policy["options"].get("slack", 0)
    if slack == 0:
        # Of no turns: behind all that will ever be closed, so that the cut need not move with each turn.
        return NOWHERE if count == 0 and numbers else _newest(numbers, count)
    last = None if last_cut is None else last_cut["from"]
    return _settled(last, _newest(numbers, count + slack), _newest(numbers, count))


def _numbers_newest_first(thread: Thread, interrupted: str) -> list[int]:
    """The turns that a policy looks at; the seed counts as the oldest."""
    shown = [turn["number"] for turn in turns_on_path(thread) if not is_left_out(turn, interrupted)]
    return [*reversed(shown), *([0] if thread["seed"] else [])]


def _newest(numbers: list[int], count: int) -> Start:
    """Where the newest turns begin; of none, right behind the newest."""
    if len(numbers) <= count:
        return None
    return {"turn": numbers[count - 1] if count > 0 else numbers[0] + 1, "unit": 0}


def _settled(last: Start, most: Start, least: Start) -> Start:
    """Where a window with slack begins: where it did, until that would show too much; then it shows the least.

    A cut that shows even less than that (the head was moved) is no reason to stay.
    """
    if _shows_more(last, most):
        return least
    if _shows_more(least, last):
        return None if most is None else least
    return last


def _shows_more(start: Start, than: Start) -> bool:
    return than is not None and (start is None or is_older(start, than))
