"""Runs vectors: `python3 run.py [--fold] [files or folders]`. Without files, all of the folders beside this one.

Says of each vector, as a line of JSON, whether this machine does what it says, and where not, the first difference.
What is done with a vector depends on its profile, which is the folder of its file:

- core: the events are sent, and all that they come to is compared; then the entries are folded.
- policies: only the entries are folded, since this machine has not those policies. `--fold` does so for core as well.
- journals: the journal is read and folded, or refused. Forking and redacting one is no part of this machine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

from effects import outstanding, outstanding_ids
from fold import JOURNAL_FORMAT, JournalError, fold, fold_entry, fold_first
from journal import read_journal
from settings import settings_of
from transition import start, transition

State = dict[str, Any]
Step = dict[str, Any]
Vector = dict[str, Any]

FORMATS = {"vectors": 1, "journal": JOURNAL_FORMAT}
VECTORS = Path(__file__).resolve().parent.parent
PROFILES = ("core", "policies", "journals")


def main(arguments: list[str]) -> int:
    """Runs what the arguments name; 1 where something differs."""
    named = [Path(each) for each in arguments if each != "--fold"]
    count = failed = 0
    for file in _files(named or [VECTORS / profile for profile in PROFILES]):
        for vector in _vectors_in(file):
            problem = _problem_of_formats() or problem_of(vector, file.resolve().parent.name, "--fold" in arguments)
            count += 1
            failed += problem is not None
            name = f"{file}#{vector['name']}" if "name" in vector else str(file)
            print(json.dumps({"file": name, "ok": problem is None, **({} if problem is None else {"problem": problem})}))
    print(f"{count - failed} of {count} vectors hold", file=sys.stderr)
    return 0 if count and not failed else 1


def _problem_of_formats() -> Optional[str]:
    formats = json.loads((VECTORS / "formats.json").read_text("utf-8"))
    return None if formats == FORMATS else f"the set has the formats {formats}, and this reads {FORMATS}"


def problem_of(vector: Vector, profile: str, only_fold: bool = False) -> Optional[str]:
    """What differs first, with its step; None where nothing does."""
    try:
        if profile == "journals":
            reads(vector)
        else:
            if profile == "core" and not only_fold:
                plays(vector)
            folds(vector)
    except Difference as difference:
        return str(difference)
    except Exception as error:  # this machine is at fault, and the other files are looked at all the same
        return f"it raises {error!r}"
    return None


class Difference(Exception):
    """Something is not what a vector says."""


def reads(vector: Vector) -> None:
    """Reads and folds a journal. Raises Difference."""
    try:
        came: dict[str, Any] = {"state": fold(read_journal(vector["entries"]))}
    except JournalError as error:
        came = {"refused": {"seq": error.seq, "kind": error.kind}}
    expected = {name: vector[name] for name in ("state", "refused") if name in vector}
    for path, one, other in _differences("", expected, came):
        raise Difference(f"{path.lstrip('.')}: expected {_shown(one)}, found {_shown(other)}")


def folds(vector: Vector) -> None:
    """Folds the entries of a vector. Raises Difference."""
    state: State = {}
    expected: State = {}
    for number, step in enumerate(vector["steps"]):
        if "refusal" in step:
            continue
        state = fold_entry(state, step["entry"]) if number else fold_first(step["entry"])
        expected = patched(expected, step["state"]) if number else step["state"]
        _compare(number, step, "state", expected, state)
        ids = [each if isinstance(each, str) else each["id"] for each in step["outstanding"]]
        _compare(number, step, "ids of outstanding", ids, outstanding_ids(state))


def plays(vector: Vector) -> None:
    """Sends the events of a vector, one after the other. Raises Difference."""
    settings = settings_of(vector["machine"])
    begun = start(settings, vector["start"])
    asked: dict[str, Any] = {}
    expected: State = {}
    state: State = begun["state"]
    for number, step in enumerate(vector["steps"]):
        if "machine" in step:
            settings = settings_of(step["machine"])
        came = transition(settings, state, step["event"], step.get("recovered", False)) if number else begun
        if "refusal" in step:
            refusal = {name: value for name, value in came.get("refusal", {}).items() if name != "reason"}
            _compare(number, step, "refusal", step["refusal"], refusal)
            continue
        if "refusal" in came:
            raise Difference(f"{_place(number, step)}: refused: {came['refusal']}")
        state = came["state"]
        expected = patched(expected, step["state"]) if number else step["state"]
        _compare(number, step, "entry", step["entry"], came["entry"])
        _compare(number, step, "effects", step["effects"], came["effects"])
        _compare(number, step, "state", expected, state)
        # What is outstanding is the effect as it was asked for, unless the vector says what it is by now.
        asked = {**asked, **{effect["id"]: effect for effect in step["effects"] if "id" in effect}}
        whole = [asked[each] if isinstance(each, str) else each for each in step["outstanding"]]
        _compare(number, step, "outstanding", whole, outstanding(state))


def patched(state: State, patch: dict[str, Any]) -> State:
    """The state after a step of a vector: names in the patch are paths, split at dots; numbers in them are places."""
    context = state["context"]
    for path in patch.get("gone", []):
        context = _changed(context, path.split("."), _GONE)
    for path, value in patch["context"].items():
        context = _changed(context, path.split("."), value)
    return {"value": patch.get("value", state["value"]), "context": context}


_GONE = object()


def _changed(holder: Any, path: list[str], value: Any) -> Any:
    name, *rest = path
    if isinstance(holder, list):
        place = int(name)
        # The place right behind the end appends.
        inner = _changed(holder[place], rest, value) if rest else value
        return [*holder[:place], inner, *holder[place + 1 :]]
    if not rest and value is _GONE:
        return {each: member for each, member in holder.items() if each != name}
    return {**holder, name: _changed(holder[name], rest, value) if rest else value}


def _compare(number: int, step: Step, what: str, expected: Any, found: Any) -> None:
    for path, one, other in _differences(what, expected, found):
        raise Difference(f"{_place(number, step)}: {path}: expected {_shown(one)}, found {_shown(other)}")


def _differences(path: str, expected: Any, found: Any) -> Iterator[tuple[str, Any, Any]]:
    """Compared as JSON: without regard to the order of members; true is not 1, though Python says so."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            yield from _differences(f"{path}.{name}", expected.get(name, _GONE), found.get(name, _GONE))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from _differences(f"{path}.{index}", one, other)
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield path, expected, found


def _place(number: int, step: Step) -> str:
    return f"step {number} ({step.get('event', {}).get('type', 'start')})"


def _shown(value: Any) -> str:
    return "nothing" if value is _GONE else json.dumps(value, ensure_ascii=False)[:300]


def _files(places: list[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.glob("*.json*")) if place.is_dir() else [place]


def _vectors_in(file: Path) -> list[Vector]:
    """A conversation has a line for each step after one with all else; a file of journals has one, or a list."""
    text = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        head, *steps = (json.loads(line) for line in text.rstrip("\n").split("\n"))
        return [{**head, "steps": steps}]
    read = json.loads(text)
    return read if isinstance(read, list) else [read]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
