"""Whether an ask is taken, and whether it opens a turn, waits, joins one or interrupts one."""

from __future__ import annotations

import re
from typing import Any, Optional

from asks import drafts_of
from decide_edit import decide_move, problem_of_calls, turn_answering
from decide_outcome import decide_opening, interrupted_results
from edits import moved_for
from same_ask import is_among, says_the_same, turn_answering_ask
from settings import Refused, Settings
from shape import is_count
from text import trimmed
from tree import is_thread_empty

Data = dict[str, Any]
Ask = dict[str, Any]
Event = dict[str, Any]
Decided = dict[str, Any]

# Of asks that say themselves that they wait, where the machine's policy has no bound.
_DEFAULT_MAX = 64

# What servers take as the name of a speaker.
_SPEAKER = re.compile("[a-zA-Z0-9_-]{1,64}")

_LIMITS = ("steps", "toolCalls", "tokens", "costNano", "deadlineMs")


def decide_ask(settings: Settings, data: Data, event: Event) -> Decided:
    """What becomes of an ask. Raises Refused."""
    _check_ask(data, event)
    _check_names(settings, event)
    if "from" in event:
        # The turn opens behind another one, as if the head had moved there before.
        return decide_opening(settings, moved_for(data, event), [event], event["at"])
    if data["open"] is None and not data["queue"]:
        return decide_opening(settings, data, [event], event["at"])
    return _decide_overlap(settings, data, event)


def next_of(settings: Settings, queue: list[Ask]) -> list[Ask]:
    """The asks that the next turn answers: the one that waits longest, and those behind it that can be merged."""
    for index, ask in enumerate(queue):
        merges = ask.get("overlap", settings.overlap["type"]) == "merge"
        if not merges or (index > 0 and _name_clashing(queue[: index + 1]) is not None):
            return queue[: max(index, 1)]
    return queue


def _check_ask(data: Data, event: Event) -> None:
    """Refuses what is refused whatever the configuration. A known id comes first: then nothing else matters."""
    if event["askId"] == "":
        raise Refused("invalid", "an ask needs an askId that is not empty")
    repeated = _repeated(data, event["askId"])
    if repeated is not None:
        if not says_the_same(data, event):
            raise Refused("invalid", f'ask "{event["askId"]}" was made before, and its input differs from this one')
        raise repeated
    problem = _problem_of_ask(data, event)
    if problem is not None:
        raise Refused("invalid", problem)
    if "from" in event:
        _check_from(data, event)
    if "joins" in event:
        _check_joins(data, event["joins"].get("askId"))


def _repeated(data: Data, ask_id: str) -> Optional[Refused]:
    """The refusal of an ask whose id is known: with the turn that answers it, where there is one."""
    turn = data["open"]
    if turn is not None and is_among([*turn["asks"], *turn["joining"]], ask_id):
        return Refused("stale", f'ask "{ask_id}" was made before', turn["number"])
    if is_among(data["queue"], ask_id):
        return Refused("stale", f'ask "{ask_id}" waits in the queue already')
    if is_among(data["dropped"], ask_id):
        return Refused("stale", f'ask "{ask_id}" was made before, and no turn answers it: ask again under another id')
    answered = turn_answering_ask(data, ask_id)
    return None if answered is None else Refused("stale", f'ask "{ask_id}" was made before', answered["number"])


def _problem_of_ask(data: Data, event: Event) -> Optional[str]:
    lost = problem_of_calls(drafts_of(event), may_call=False)
    if lost is not None:
        return lost
    if not all(_SPEAKER.fullmatch(draft["name"]) for draft in drafts_of(event) if "name" in draft):
        return f"a name of an ask has to match {_SPEAKER.pattern}"
    names = [tool["name"] for tool in event.get("tools", [])]
    if "" in names or len(set(names)) < len(names):
        return "the tools of the ask need names, which differ"
    for name, most in event.get("limits", {}).items():
        if name not in _LIMITS or not (is_count(most) or (name == "steps" and most is None)):
            return f'limit "{name}" has to be one of {", ".join(_LIMITS)}, and a whole number of 0 or more'
    if event.get("output", {}).get("name") == "":
        return "an output needs a name that is not empty"
    # An empty text is a message, but not worth a call where it is all that there is.
    if not event["input"] and _is_empty(moved_for(data, event)):
        return "there is nothing to send: the thread is empty, and so is the input"
    return None


def _is_empty(data: Data) -> bool:
    return data["open"] is None and is_thread_empty(data["conversation"])


def _check_from(data: Data, event: Event) -> None:
    if "joins" in event or event.get("overlap", "reject") != "reject":
        raise Refused("invalid", "an ask that says where its turn opens never waits, interrupts or joins another")
    decide_move(data, event["from"])
    if turn_answering(data) is not None:
        raise Refused("busy", f"turn {turn_answering(data)} is open or about to be, so the head can't move")


def _check_joins(data: Data, ask_id: Optional[str]) -> None:
    turn = data["open"]
    if turn is None:
        raise Refused("stale", "no turn is open: there is nothing to join; ask instead")
    if ask_id is not None and not is_among(turn["asks"], ask_id):
        raise Refused("stale", f'the open turn {turn["number"]} does not answer ask "{ask_id}"')


def _check_names(settings: Settings, event: Event) -> None:
    """A call of a tool has to say by its name whose it is."""
    output = event.get("output", {})
    taken = set(settings.tool_names)
    if output.get("mode") == "tool":
        if output["name"] in taken:
            raise Refused("invalid", f'output "{output["name"]}" has the name of a tool: call it otherwise')
        taken.add(output["name"])
    own = next((tool["name"] for tool in event.get("tools", []) if tool["name"] in taken), None)
    if own is not None:
        raise Refused("invalid", f'tool "{own}" of the ask has the name of a tool of the machine, or of the output')


def _decide_overlap(settings: Settings, data: Data, event: Event) -> Decided:
    """What becomes of an ask while a turn is open, or about to be."""
    turn, queue = data["open"], data["queue"]
    kind = "steer" if "joins" in event else event.get("overlap", settings.overlap["type"])
    most = settings.overlap.get("max", _DEFAULT_MAX)
    superseding = {"supersedes": True} if queue else {}
    if kind == "reject":
        raise Refused("busy", "a turn is open: wait for its end, cancel it, or let asks wait")
    if kind == "latest" or (kind == "interrupt" and turn is None):
        return {"queued": 1, **superseding}
    if kind == "interrupt":
        because = f'ask "{event["askId"]}" interrupted the turn'
        return {"interrupts": True, **superseding, **interrupted_results(turn, because)}
    if kind == "steer" and turn is not None:
        return _decide_joining(turn, event, most)
    if len(queue) >= most:
        raise Refused("full", f"{len(queue)} asks wait already, and the queue holds {most}")
    return {"queued": len(queue) + 1}


def _decide_joining(turn: dict[str, Any], event: Event, most: int) -> Decided:
    if all(_is_blank(draft["content"]) for draft in drafts_of(event)):
        raise Refused("invalid", "an ask that joins a turn has to say something")
    of_turn = {"tools": turn.get("callerTools", []), **({"output": turn["output"]} if "output" in turn else {})}
    clashing = _name_clashing([of_turn, *turn["joining"], event])
    if clashing is not None:
        raise Refused("invalid", f'tool "{clashing}" would have the name of the output in turn {turn["number"]}')
    if len(turn["joining"]) >= most:
        raise Refused("full", f"{len(turn['joining'])} asks wait already to join the turn, and at most {most} may")
    return {"joins": True}


def _name_clashing(asks: list[Ask]) -> Optional[str]:
    """A tool of one ask that has the name of the tool by which another wants its output: one turn can't offer both."""
    outputs = {ask["output"]["name"] for ask in asks if ask.get("output", {}).get("mode") == "tool"}
    tools = (tool["name"] for ask in asks for tool in ask.get("tools", []))
    return next((name for name in tools if name in outputs), None)


def _is_blank(content: Any) -> bool:
    if isinstance(content, str):
        return trimmed(content) == ""
    return all(part["type"] == "text" and trimmed(part["text"]) == "" for part in content)
