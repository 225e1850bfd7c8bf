import * as Either from "fp-ts/lib/Either.js";
import type { ConversationMachine, Entry } from "../../src/index.ts";
import { internals } from "../../src/conversation/machine.ts";
import { recordedSteps } from "../../src/inspect/recorded-steps.ts";
import {
  beginRehearsal,
  rehearse,
  type Rehearsed,
  type RehearsedCall,
  rehearseImported,
} from "../../src/inspect/rehearse.ts";

/** Returns the calls of a journal as a machine would make them, without imported ones. */
export const rehearsed = (machine: ConversationMachine, entries: readonly Entry[]): readonly RehearsedCall[] =>
  allRehearsed(machine, entries).filter(({ imported }) => !imported);

/** Returns the calls of a journal as a machine would make them. */
export const allRehearsed = (machine: ConversationMachine, entries: readonly Entry[]): readonly RehearsedCall[] =>
  stepsRehearsed(machine, entries).flatMap(({ call }) => call ?? []);

/** Returns the results of a machine at each entry of a journal. */
export const stepsRehearsed = (machine: ConversationMachine, entries: readonly Entry[]): readonly Rehearsed[] => {
  const recorded = recordedSteps(entries);
  if (Either.isLeft(recorded)) throw new Error(recorded.left.reason);
  const { settings } = machine[internals];
  let rehearsal = beginRehearsal(settings, recorded.right);
  return recorded.right.steps.map((step) => {
    const next =
      step.type === "imported"
        ? rehearseImported(settings, rehearsal, step)
        : rehearse(settings, rehearsal, recorded.right, step);
    ({ rehearsal } = next);
    return next;
  });
};
