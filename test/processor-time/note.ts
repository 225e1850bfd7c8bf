import { afterAll } from "vitest";

import { secondsUsed } from "./used.ts";

/** Has the report of a file of tests say how many seconds of the processor it took, imports and child processes among them. */
export const noteProcessorTime = (): void => {
  const before = secondsUsed();
  // vitest reads the names of fixtures from the first argument.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(({}, file) => {
    Object.assign(file.meta, { processorSeconds: secondsUsed() - before });
  });
};
