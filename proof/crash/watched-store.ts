import type { Store } from "@colloquy/host";
import { canonicalText, digestOf, type Entry } from "@colloquy/machine";

import { methodsOf } from "../kit/store-methods.ts";
import type { Fault } from "./faults.ts";
import type { RecordFact } from "./records.ts";

/** A store that records what it acknowledges, and offers places to die around it. */
export interface WatchedStore extends Store {
  /** The newest entry that is known to be stored; -1 for none. */
  readonly newestSeq: number;
}

export interface Watch {
  readonly point: () => void;
  readonly record: RecordFact;
  readonly fault: Fault | null;
}

/** The digest of an entry, as it is compared with what is found after the crash: in whatever order its members come. */
export const digestOfEntry = (entry: Entry): string => digestOf(canonicalText(entry));

/** Watches a store whose `append` is done when it returns. */
export const watchedStore = (inner: Store, { point, record, fault }: Watch): WatchedStore => {
  let newestSeq = -1;
  const acknowledge = (entries: readonly Entry[]): void => {
    for (const entry of entries) {
      record({ type: "acknowledged", seq: entry.seq, digest: digestOfEntry(entry) });
      newestSeq = entry.seq;
    }
  };
  const behind = writingBehind();
  const append: Store["append"] = (lease, expectedSeq, given) => {
    const entries = fault === "unmarked-interruption" ? given.map(unmarked) : given;
    const write = (): void => void inner.append(lease, expectedSeq, entries);
    point();
    switch (fault) {
      case "acknowledge-before-append":
        acknowledge(entries);
        point();
        return write();
      case "write-behind":
        acknowledge(entries);
        return behind.later(write);
      case "perform-before-append":
        return behind.later(() => {
          write();
          acknowledge(entries);
        });
      default:
        write();
        point();
        acknowledge(entries);
        point();
    }
  };
  return {
    ...methodsOf(inner),
    get newestSeq() {
      return newestSeq;
    },
    acquire: async (...given) => {
      point();
      const lease = await inner.acquire(...given);
      point();
      return lease;
    },
    release: async (lease) => {
      behind.catchUp();
      await inner.release(lease);
    },
    append,
    read: async (...given) => {
      const entries = await inner.read(...given);
      // Something may have been stored since it was read.
      newestSeq = Math.max(newestSeq, entries.length - 1);
      point();
      return fault === "once-runs-again" ? entries.map(withoutStart) : entries;
    },
    saveSnapshot: async (...given) => {
      point();
      await inner.saveSnapshot(...given);
      point();
    },
  };
};

/** Does in a moment what should have been done at once. */
const writingBehind = (): { readonly later: (write: () => void) => void; readonly catchUp: () => void } => {
  const waiting: (() => void)[] = [];
  const catchUp = (): void => {
    for (const write of waiting.splice(0)) write();
  };
  return {
    catchUp,
    later: (write) => {
      waiting.push(write);
      setTimeout(catchUp, 1);
    },
  };
};

const unmarked = (entry: Entry): Entry => {
  if (entry.event.type !== "tool.failed" || entry.event.outcome !== "interrupted") return entry;
  return { seq: entry.seq, event: { ...entry.event, outcome: "failed" } };
};

/** Something harmless in the place of a tool's start. */
const withoutStart = (stored: unknown): unknown => {
  const entry = stored as Entry;
  if (entry.event.type !== "tool.started") return stored;
  return { seq: entry.seq, event: { type: "checkpoint.named", at: entry.event.at, name: "forgotten" } };
};
