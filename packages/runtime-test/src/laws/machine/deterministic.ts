import { realSubject } from "../../arbitraries/subject.ts";
import { requireSame } from "../evidence/law-broken.ts";
import { isLookedAt, type MachineLaw, onceFor, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M1: the same configuration, state and event give the same transition, in another machine and when repeated.
 */
export const deterministic: MachineLaw = (options, schedule, subject = realSubject) => {
  const first = traceFor(options, schedule, subject);
  const second = traceFor(sameOptions(options), schedule, subject);
  requireSame("M1", "two beginnings", first.started, second.started);
  for (const [index, step] of first.steps.entries()) {
    const name = stepNamed(index, step.event);
    const again = second.steps[index];
    requireSame("M1", `${name} in a second machine`, step.transition, again?.transition);
    const { machine, before, event, transition } = step;
    requireSame("M1", `${name} sent a second time`, transition, subject.transition(machine, before, event));
    if (!isLookedAt(first, index)) continue;
    const prompts = [machine, machine].map((same) => subject.promptOf(same, transition.state));
    requireSame("M1", `two looks at the prompt after ${name}`, prompts[0], prompts[1]);
  }
};

/** Returns a copy of the options, so that `machinesFor` makes separate machines. */
const sameOptions = onceFor((options) => ({ ...options }));
