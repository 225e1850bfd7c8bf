/**
 * Ways to break what the crashes test, so that a test can show that they would notice. Each is what a plausible
 * mistake would do.
 */
export const faults = {
  "acknowledge-before-append": "an entry is acknowledged before it is stored",
  "write-behind": "an entry is stored a moment after the store said that it was",
  "perform-before-append": "effects are performed before the entry that asks for them is stored",
  "once-runs-again": "after a crash it is not known that a once-only tool was started",
  "interrupted-runs-again": "a tool that should be reported as interrupted runs again after a crash",
  "unmarked-interruption": "a result that a crash swallowed is passed off as an ordinary failure",
  "malformed-prompt": "a model is sent a prompt without its last tool result",
} as const;

export type Fault = keyof typeof faults;
