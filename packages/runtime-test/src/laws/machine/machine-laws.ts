import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import type { MachineOptions } from "@colloquy/machine";
import fc from "fast-check";
import { scheduleFor } from "../../arbitraries/journal.ts";
import type { Subject } from "../../arbitraries/subject.ts";
import { answering, oneAtATime } from "./answering.ts";
import { approving } from "./approving.ts";
import { runKinds } from "../evidence/run-kinds.ts";
import { accounted } from "./asks.ts";
import { continuation } from "./continuation.ts";
import { deterministic } from "./deterministic.ts";
import { explaining } from "./explained.ts";
import { folding } from "./folding.ts";
import type { MachineLaw } from "./machine-law.ts";
import { plainData } from "./plain-data.ts";
import { outputsHold } from "./outputs.ts";
import { wellFormedPrompts } from "./prompts.ts";
import { replaying } from "./replaying.ts";
import { nothingLost } from "./said.ts";
import { shownBeforeDelivered } from "./steering.ts";
import { total } from "./total.ts";
import { untouched } from "./untouched.ts";
import { immutable } from "./immutable.ts";
import { usageOfThread } from "./usage.ts";

const both =
  (...halves: readonly MachineLaw[]): MachineLaw =>
  (...given) => {
    for (const half of halves) half(...given);
  };

/** The laws of the machine, by name. */
export const laws: {
  readonly [
    Name in
      | "M1"
      | "M2"
      | "M3"
      | "M4"
      | "M5"
      | "M6"
      | "M7"
      | "M8"
      | "M9"
      | "M10"
      | "M11"
      | "M12"
      | "M13"
      | "R5"
      | "explain"
  ]: MachineLaw;
} = {
  M1: deterministic,
  M2: total,
  M3: plainData,
  M4: both(untouched, immutable),
  M5: folding,
  M6: both(answering, approving),
  M7: oneAtATime,
  M8: usageOfThread,
  M9: both(continuation, nothingLost),
  M10: wellFormedPrompts,
  M11: accounted,
  M12: shownBeforeDelivered,
  M13: outputsHold,
  R5: replaying,
  explain: explaining,
};

interface MachineLawsRun {
  readonly runs?: number;
  readonly seed?: number;
  readonly subject?: Subject;
}

const machineRunKinds: OptionKinds<MachineLawsRun> = {
  runs: runKinds.runs,
  seed: runKinds.seed,
  subject: kinds.object,
};

/**
 * Checks a machine with these options, above all its policy, against the laws of the machine, on random schedules.
 *
 * @param run `runs` schedules (default 30), from `seed` if given.
 * @throws ConfigurationError for an invalid `run`. If a law is broken: an error with the smallest schedule that was
 * found, its seed, and the law.
 */
export const checkMachineLaws = (options: MachineOptions, run: MachineLawsRun = {}): void => {
  checkOptions("checkMachineLaws", run, machineRunKinds);
  const { runs = 30, seed, subject } = run;
  fc.assert(
    fc.property(scheduleFor(options), (schedule) => {
      for (const law of Object.values(laws)) law(options, schedule, subject);
    }),
    { numRuns: runs, includeErrorInReport: true, ...(seed === undefined ? {} : { seed }) },
  );
};
