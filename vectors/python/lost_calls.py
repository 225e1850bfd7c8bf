"""Messages that would lose their tool calls: a thread has calls with their results only."""

from __future__ import annotations

from typing import Any, Optional


def problem_of_calls(drafts: list[dict[str, Any]], may_call: bool) -> Optional[str]:
    """Where a message would lose its tool calls; None where none would.

    Looks at the names of the chat format too: who has them would think that they are understood.
    """
    for index, draft in enumerate(drafts):
        foreign = next((name for name in ("tool_calls", "function_call") if _is_given(draft, name)), None)
        if foreign is not None:
            return f'message {index} has "{foreign}", which is the chat format\'s name'
        if _is_given(draft, "toolCalls") and not (draft["role"] == "assistant" and may_call):
            return f"message {index} has toolCalls, which would be lost here"
    return None


def _is_given(draft: dict[str, Any], name: str) -> bool:
    # An empty text is given: it is no list without calls.
    return draft.get(name) not in (None, [])
