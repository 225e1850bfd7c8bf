import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { entriesOf } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { isLookedAt, type MachineLaw, traceFor } from "./machine-law.ts";

/** Checks M4: inputs are never changed. Options, events, states, effects and entries are deeply frozen before use. */
export const untouched: MachineLaw = (options, schedule, subject = realSubject) => {
  deepFreeze(options);
  deepFreeze(schedule);
  try {
    const trace = traceFor(options, schedule, freezing(subject));
    const entries = deepFreeze(entriesOf(trace));
    subject.fold(entries);
    for (const [index, { machine, transition }] of trace.steps.entries()) {
      if (!isLookedAt(trace, index)) continue;
      subject.outstanding(transition.state);
      subject.promptOf(machine, transition.state);
    }
  } catch (thrown) {
    if (!isWriteToFrozen(thrown)) throw thrown;
    throw new LawBroken("M4", `something that was handed in was written to: ${thrown.message}`, { cause: thrown });
  }
};

/**
 * Returns whether a thrown value is the engine's error for a write to a frozen object. Other errors are the concern of
 * other laws.
 */
export const isWriteToFrozen = (thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError && aboutFrozen.test(thrown.message);

const aboutFrozen = /read.?only|not extensible|non-extensible|delete property|unconfigurable|non-configurable/i;

/** Deeply freezes a value and returns it. A frozen object is assumed to be deeply frozen. */
export const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze<unknown>(member);
  return value;
};

/** Returns the path to the first object in a value that is not frozen; null if all are. */
export const unfrozenIn = (value: unknown, path = "it"): string | null => {
  if (typeof value !== "object" || value === null) return null;
  if (!Object.isFrozen(value)) return path;
  for (const [name, member] of Object.entries(value)) {
    const found = unfrozenIn(member, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
};

/** Returns the same functions, with arguments and results that are deeply frozen. */
export const freezing = (subject: Subject): Subject => ({
  ...subject,
  start: (machine, input) => deepFreeze(subject.start(machine, input)),
  transition: (machine, state, event, options) =>
    deepFreeze(subject.transition(machine, deepFreeze(state), deepFreeze(event), options)),
  promptOf: (machine, state) => deepFreeze(subject.promptOf(machine, deepFreeze(state))),
});
