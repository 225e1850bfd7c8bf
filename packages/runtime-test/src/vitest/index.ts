import type { ConversationMachine } from "@colloquy/machine";
import type { ReplayOptions } from "@colloquy/machine/inspect";
import { expect } from "vitest";
import type { RecordedCase } from "../recordings/case.ts";
import { describeCaseDifference } from "../recordings/difference.ts";
import { replayedBy } from "../recordings/journal.ts";
import { type CaseReplayOptions, replayCase } from "../recordings/replay-case.ts";

/**
 * The matchers for recordings, which importing this module adds to `expect`:
 *
 * - `expect(journal).toReplay(machine, options)`: a machine decides a journal (entries, decoded or not) again in the
 * same way
 * - `expect(recordedCase).toReplayCase(options)`: a recorded conversation runs through a machine as it was recorded
 *
 * Both fail with a description of the first difference.
 */
export const recordingMatchers: {
  readonly toReplay: (
    journal: readonly unknown[],
    machine: ConversationMachine,
    options?: ReplayOptions,
  ) => MatcherResult;
  readonly toReplayCase: (recorded: RecordedCase, options?: CaseReplayOptions) => MatcherResult;
} = {
  toReplay: (journal, machine, options) => {
    const replayed = replayedBy("toReplay", machine, journal, options);
    return replayed.outcome === "passed"
      ? { pass: true, message: () => "expected the journal not to replay, but it does" }
      : { pass: false, message: () => `expected the journal to replay\n${replayed.words}` };
  },
  toReplayCase: (recorded, options) => {
    const { outcome, difference } = replayCase(recorded, options);
    if (difference === null) {
      return { pass: true, message: () => `expected ${recorded.id} not to replay, but it does` };
    }
    const part = outcome === "failed" ? "it differs" : "it can't be expressed";
    const words = describeCaseDifference(recorded, difference);
    return { pass: false, message: () => `expected ${recorded.id} to replay; ${part}\n${words}` };
  },
};

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

expect.extend({ ...recordingMatchers });

declare module "vitest" {
  // Vitest prescribes the type parameters.
  interface Matchers<R, T> {
    /**
     * Passes if the machine decides the journal as recorded; otherwise fails with a description of the first
     * difference.
     */
    toReplay: (machine: ConversationMachine, options?: ReplayOptions) => R;
    /**
     * Passes if the recorded conversation runs through a machine as recorded; otherwise fails with a description of the
     * first difference.
     */
    toReplayCase: (options?: CaseReplayOptions) => R;
  }
}
