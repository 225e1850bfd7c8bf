import { afterAll } from "vitest";

import { secondsUsed } from "./used.ts";

/** Adds to the report of a test file the seconds of processor time that it took, with imports and child processes. */
export const noteProcessorTime = (): void => {
  const before = secondsUsed();
  // vitest reads the names of fixtures from the first argument.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(({}, file) => {
    Object.assign(file.meta, { processorSeconds: secondsUsed() - before });
  });
};
