import type { Entry } from "@colloquy/machine";
import { differenceOf } from "../evidence/difference.ts";
import { LawBroken } from "../evidence/law-broken.ts";

/**
 * R4: one script gives the same journal on every runtime, apart from times, if it fixes the order of simultaneous
 * events. The journals agree entry by entry, with the same ids, decisions and prompts.
 *
 * @param journals the journals that the runtimes wrote, by the name of each; two or more.
 */
export const lawSameJournal = (journals: Readonly<Record<string, readonly Entry[]>>): void => {
  const [first, ...others] = Object.entries(journals);
  if (first === undefined || others.length === 0) throw new RangeError("R4 is about two runtimes or more");
  const [name, expected] = first;
  for (const [other, journal] of others) {
    for (let seq = 0; seq < Math.max(expected.length, journal.length); seq++) {
      const difference = differenceOf(withoutTimes(expected[seq]), withoutTimes(journal[seq]));
      if (difference !== null)
        throw new LawBroken("R4", `entry ${seq} of ${other} is not the one of ${name}: ${difference}`);
    }
  }
};

/** Returns an entry without its times, which differ between two runs. */
export const withoutTimes = (entry: Entry | undefined): unknown =>
  JSON.parse(JSON.stringify(entry ?? null), (key: string, value: unknown) => (times.has(key) ? 0 : value));

const times: ReadonlySet<string> = new Set(["at", "dueAt", "deadlineAt"]);
