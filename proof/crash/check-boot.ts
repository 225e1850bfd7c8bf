import type { Journal } from "./journal.ts";
import type { Recorded } from "./records.ts";
import { digestOfEntry } from "./watched-store.ts";

/** What is wrong after one boot: with what was stored before it, or with what was acknowledged until then. */
export const checkBoot = (before: Journal, after: Journal, records: readonly Recorded[]): readonly string[] => [
  ...before.entries.flatMap((entry, seq) => {
    const now = after.entries[seq];
    if (now === undefined) return [`entry ${seq} was stored, and is gone`];
    return JSON.stringify(now) === JSON.stringify(entry) ? [] : [`entry ${seq} was stored, and is another now`];
  }),
  ...records.flatMap((fact) => {
    if (fact.type !== "acknowledged") return [];
    const entry = after.entries[fact.seq];
    if (entry === undefined) return [`entry ${fact.seq} was acknowledged in boot ${fact.boot}, and is not there`];
    return digestOfEntry(entry) === fact.digest ? [] : [`entry ${fact.seq} is not the one that was acknowledged`];
  }),
];
