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
import { recordOf } from "./values.ts";
import { runSchedule } from "./run-schedule.ts";
import { scheduleArbitrary } from "./schedule-arbitrary.ts";
import type { Schedule } from "./schedule.ts";
import { entriesOf, type Trace } from "./trace.ts";

/** A machine's options, and a schedule of its conversation. */
export interface Play {
  readonly options: MachineOptions;
  readonly schedule: Schedule;
}

/** A configuration and a schedule that calls its tools. */
export const playArbitrary: fc.Arbitrary<Play> = machineOptionsArbitrary.chain((options) =>
  recordOf({ options: fc.constant(options), schedule: scheduleFor(options) }),
);

/** Returns an arbitrary of schedules that call the tools of a configuration. */
export const scheduleFor = ({ tools = [] }: MachineOptions): fc.Arbitrary<Schedule> =>
  scheduleArbitrary({ tools: tools.map(({ name }) => name) });

/** Returns an arbitrary of the traces of schedules, under the given configuration or any other. */
export const traceArbitrary = (
  options?: MachineOptions,
): fc.Arbitrary<Trace & { readonly machine: ConversationMachine }> => {
  const plays = options === undefined ? playArbitrary : scheduleFor(options).map((schedule) => ({ options, schedule }));
  return plays.map(({ options: configured, schedule }) => {
    const machine = conversationMachine(configured);
    return { machine, ...runSchedule(machine, schedule) };
  });
};

/** Returns an arbitrary of journals as a host writes them, under the given configuration or any other. */
export const journalArbitrary = (options?: MachineOptions): fc.Arbitrary<readonly Entry[]> =>
  traceArbitrary(options).map(entriesOf);

/**
 * Returns an arbitrary of threads at any point of their life, under the given configuration or any other. The open turn
 * is not included.
 */
export const threadArbitrary = (options?: MachineOptions): fc.Arbitrary<Thread> =>
  stateArbitrary(options).map(({ context }) => context.conversation);

/** Returns an arbitrary of conversations at any point of their life. */
export const stateArbitrary = (options?: MachineOptions): fc.Arbitrary<State> =>
  traceArbitrary(options).map(({ started, steps }) => steps.at(-1)?.transition.state ?? started.state);
