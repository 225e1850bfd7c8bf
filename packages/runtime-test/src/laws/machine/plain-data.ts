import type { Entry } from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { entriesOf } from "../../arbitraries/trace.ts";
import { requireSame } from "../evidence/law-broken.ts";
import { isLookedAt, type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M3: everything is plain data. State, event, effects and entry equal the parse of their JSON. A conversation
 * whose state and events pass through JSON between its steps stays the same. States share their parts, so only a few
 * steps are checked, including the last: writing all of them took a third of the time of all laws.
 */
export const plainData: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  requireSame("M3", "the first state through JSON", trace.started.state, throughJson(trace.started.state));
  requireSame("M3", "the first entry through JSON", trace.started.entry, throughJson(trace.started.entry));
  let state = throughJson(trace.started.state);
  for (const [index, { machine, event, transition }] of trace.steps.entries()) {
    const name = stepNamed(index, event);
    const copied = subject.transition(machine, state, throughJson(event));
    ({ state } = copied);
    if (!isLookedAt(trace, index)) continue;
    requireSame("M3", `${name}, sent to a state that went through JSON`, transition, copied);
    const read = throughJson(transition);
    requireSame("M3", `${name} through JSON`, transition, read);
    ({ state } = read);
    const out = throughJson(subject.outstanding(state));
    requireSame("M3", `outstanding after ${name}`, subject.outstanding(transition.state), out);
    const prompt = subject.promptOf(machine, transition.state);
    requireSame("M3", `the prompt after ${name}`, prompt, throughJson(subject.promptOf(machine, state)));
  }
  const entries: readonly Entry[] = entriesOf(trace);
  requireSame(
    "M3",
    "the fold of entries that went through JSON",
    subject.fold(entries),
    subject.fold(throughJson(entries)),
  );
};

const throughJson = <Value>(value: Value): Value =>
  // JSON.parse returns the type that was written if the value is JSON, which is what this law checks.
  JSON.parse(JSON.stringify(value)) as Value;
