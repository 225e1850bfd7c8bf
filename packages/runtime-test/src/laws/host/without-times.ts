import type { Entry } from "@colloquy/machine";

/** An entry as it is at any time: two runs are not at the same one. */
export const withoutTimes = (entry: Entry | undefined): unknown =>
  JSON.parse(JSON.stringify(entry ?? null), (key: string, value: unknown) => (times.has(key) ? 0 : value));

const times: ReadonlySet<string> = new Set(["at", "dueAt", "deadlineAt"]);
