import type { ConversationMachine, Effect, Event, MachineOptions } from "@colloquy/machine";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import type { Schedule } from "../../arbitraries/schedule.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { stepNamed, traceFor } from "./machine-law.ts";

type Snapshot = ReturnType<ConversationMachine["resolveState"]>;

/** The `transition` function of XState. The caller passes it, so that these laws do not depend on XState. */
export type XStateTransition = (
  machine: ConversationMachine,
  snapshot: Snapshot,
  event: Event,
) => readonly [
  { readonly value: unknown; readonly context: unknown },
  readonly { readonly type: string; readonly params?: unknown }[],
];

/**
 * Checks that the machine is an XState machine, and that our faster step equals XState's. Value, context and effects
 * are the same for each event. An event is handled if a transition of the chart takes it, and refused otherwise.
 */
export const equalStep = (
  xstateTransition: XStateTransition,
  options: MachineOptions,
  schedule: Schedule,
  subject: Subject = realSubject,
): void => {
  const trace = traceFor(options, schedule, subject);
  for (const [index, { machine, event, before, transition }] of trace.steps.entries()) {
    const name = stepNamed(index, event);
    const snapshot = machine.resolveState({ value: before.value, context: before.context });
    const [after, actions] = xstateTransition(machine, snapshot, event);
    const taken = after !== snapshot;
    if (taken !== transition.handled) {
      throw new LawBroken(
        "equalStep",
        `${name} was ${transition.handled ? "handled" : "refused"}, and ${taken ? "an" : "no"} arrow takes it`,
      );
    }
    requireSame("equalStep", `the state value after ${name}`, after.value, transition.state.value);
    requireSame("equalStep", `the context after ${name}`, after.context, transition.state.context);
    const performed = actions.flatMap(({ type, params }) => (type === "perform" ? [params] : []));
    const effects: readonly Effect[] = transition.effects;
    requireSame("equalStep", `the effects of ${name}`, performed, effects);
  }
};
