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
 * - `expect(journal).toReplay(machine, options)`: a journal (entries, decoded or not) is decided again in the same way
 * - `expect(recordedCase).toReplayCase(options)`: a recorded conversation runs through a machine as it was recorded
 *
 * Both fail with the first difference in words.
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
      ? { pass: true, message: () => "expected the journal to be decided otherwise, but it replays as it stands" }
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
  // The type parameters are vitest's.
  interface Matchers<R, T> {
    /** The journal is decided by the machine as it was when it was recorded; else the first difference in words. */
    toReplay: (machine: ConversationMachine, options?: ReplayOptions) => R;
    /** The recorded conversation runs through a machine as it was recorded; else the first difference in words. */
    toReplayCase: (options?: CaseReplayOptions) => R;
  }
}
