import type { Store } from "@colloquy/host";
import type { CallLlm, Entry } from "@colloquy/machine";

import { methodsOf } from "../../kit/store-methods.ts";
import { faultyStore as lateStore } from "../store/faults.ts";
import type { Watch } from "../story/watched.ts";

export const faults = {
  "acknowledge-before-append": "an entry is acknowledged before it is stored",
  "write-behind": "an entry is stored a moment after the store acknowledged it",
  "perform-before-append": "effects are performed before the entry that asks for them is stored",
  "once-runs-again": "a once-only tool's start is lost in a crash",
  "interrupted-runs-again": "a tool that should be reported as interrupted runs again after a crash",
  "unmarked-interruption": "a result that a crash lost is reported as an ordinary failure",
  "malformed-prompt": "a model is sent a prompt without its last tool result",
} as const;

export type Fault = keyof typeof faults;

/** Builds a fault into a store, below the watched one. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
  const methods = methodsOf(store);
  switch (fault) {
    case "write-behind":
      return lateStore(store, fault);
    case "once-runs-again":
      return { ...methods, read: async (...given) => (await store.read(...given)).map(withoutStart) };
    default:
      return store;
  }
};

/** Builds a fault into a store, above the watched one. */
export const falseStore = (store: Store, fault: Fault | null): Store =>
  fault === "unmarked-interruption"
    ? { ...methodsOf(store), append: (lease, seq, entries) => store.append(lease, seq, entries.map(unmarked)) }
    : store;

/** Returns how to append: the fault acknowledges it too early, or stores it too late. */
export const appendWith =
  (fault: Fault | null): Watch["append"] & {} =>
  async (write, acknowledge) => {
    if (fault === "perform-before-append") return void setTimeout(() => void write().catch(() => undefined), 1);
    if (fault === "acknowledge-before-append") acknowledge();
    await write();
  };

export const sentWith =
  (fault: Fault | null) =>
  ({ messages }: CallLlm): CallLlm["messages"] =>
    fault === "malformed-prompt" && messages.at(-1)?.role === "tool" ? messages.slice(0, -1) : messages;

const unmarked = (entry: Entry): Entry => {
  if (entry.event.type !== "tool.failed" || entry.event.outcome !== "interrupted") return entry;
  return { seq: entry.seq, event: { ...entry.event, outcome: "failed" } };
};

const withoutStart = (stored: unknown): unknown => {
  // A host appended it.
  const entry = stored as Entry;
  if (entry.event.type !== "tool.started") return stored;
  return { seq: entry.seq, event: { type: "checkpoint.named", at: entry.event.at, name: "forgotten" } };
};
