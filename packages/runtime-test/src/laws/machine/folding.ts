import * as Either from "fp-ts/lib/Either.js";
import { realSubject } from "../../arbitraries/subject.ts";
import { entriesOf, statesOf } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, traceFor } from "./machine-law.ts";

/**
 * Checks M5: the state is the fold of the journal, at the first prefix, at the last, and at some between. Folding takes
 * no configuration, and the journal was written under several. So the entries must contain every decision that depends
 * on a configuration.
 */
export const folding: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const entries = entriesOf(trace);
  const states = statesOf(trace);
  const every = Math.ceil(states.length / prefixes);
  for (const [index, state] of states.entries()) {
    if (index !== 0 && (states.length - 1 - index) % every !== 0) continue;
    const name = `the fold of entries 0 to ${index} (${entries[index]?.event.type})`;
    const folded = subject.fold(entries.slice(0, index + 1));
    if (Either.isLeft(folded)) throw new LawBroken("M5", `${name} was refused: ${folded.left.reason}`);
    requireSame("M5", name, state, folded.right);
  }
};

/** The number of checked prefixes. Folding all prefixes would take quadratic time. */
const prefixes = 6;
