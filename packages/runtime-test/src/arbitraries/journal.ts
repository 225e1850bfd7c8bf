import {
  conversationMachine,
  type ConversationMachine,
  type Entry,
  type MachineOptions,
  type State,
  type Thread,
} from "@colloquy/machine";
import fc from "fast-check";
import { machineOptionsArbitrary } from "./options.ts";
import { recordOf } from "./record.ts";
import { runSchedule } from "./run-schedule.ts";
import { scheduleArbitrary } from "./schedule-arbitrary.ts";
import type { Schedule } from "./schedule.ts";
import { entriesOf, type Trace } from "./trace.ts";

/** A machine, and what may happen to its conversations. */
export interface Play {
  readonly options: MachineOptions;
  readonly schedule: Schedule;
}

/** A configuration and a schedule that calls its tools. */
export const playArbitrary: fc.Arbitrary<Play> = machineOptionsArbitrary.chain((options) =>
  recordOf({ options: fc.constant(options), schedule: scheduleFor(options) }),
);

/** A schedule that calls the tools of a configuration. */
export const scheduleFor = (options: MachineOptions, movesMax?: number): fc.Arbitrary<Schedule> =>
  scheduleArbitrary({
    tools: (options.tools ?? []).map(({ name }) => name),
    ...(movesMax === undefined ? {} : { movesMax }),
  });

/** What came of a schedule, under any configuration or the one that is given. */
export const traceArbitrary = (
  options?: MachineOptions,
): fc.Arbitrary<Trace & { readonly machine: ConversationMachine }> => {
  const plays = options === undefined ? playArbitrary : scheduleFor(options).map((schedule) => ({ options, schedule }));
  return plays.map(({ options: configured, schedule }) => {
    const machine = conversationMachine(configured);
    return { machine, ...runSchedule(machine, schedule) };
  });
};

/** A journal as a host would have written it, under any configuration or the one that is given. */
export const journalArbitrary = (options?: MachineOptions): fc.Arbitrary<readonly Entry[]> =>
  traceArbitrary(options).map(entriesOf);

/** A thread somewhere in its life, under any configuration or the one that is given; the turn that is open is not part of it. */
export const threadArbitrary = (options?: MachineOptions): fc.Arbitrary<Thread> =>
  stateArbitrary(options).map(({ context }) => context.conversation);

/** A conversation somewhere in its life. */
export const stateArbitrary = (options?: MachineOptions): fc.Arbitrary<State> =>
  traceArbitrary(options).map(({ started, steps }) => steps.at(-1)?.transition.state ?? started.state);
