import type { Store } from "@colloquy/host";
import type { CallLlm, Entry } from "@colloquy/machine";

import { methodsOf } from "../../kit/store-methods.ts";
import { faultyStore as lateStore } from "../store/faults.ts";
import type { Watch } from "../story/watched.ts";

/**
 * Ways to break what the kills test, so that a test can show that they would notice. Each is what a plausible mistake
 * would do.
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

/** A store with a fault built in, beneath the one that is watched. */
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

/** A store with a fault built in, above the one that is watched. */
export const falseStore = (store: Store, fault: Fault | null): Store =>
  fault === "unmarked-interruption"
    ? { ...methodsOf(store), append: (lease, seq, entries) => store.append(lease, seq, entries.map(unmarked)) }
    : store;

/** How an append is done: its store acknowledges it too early, or does it only later. */
export const appendWith =
  (fault: Fault | null): Watch["append"] & {} =>
  async (write, acknowledge) => {
    if (fault === "perform-before-append") return void setTimeout(() => void write().catch(() => undefined), 1);
    if (fault === "acknowledge-before-append") acknowledge();
    await write();
  };

/** Returns the messages that the model is sent. */
export const sentWith =
  (fault: Fault | null) =>
  ({ messages }: CallLlm): CallLlm["messages"] =>
    fault === "malformed-prompt" && messages.at(-1)?.role === "tool" ? messages.slice(0, -1) : messages;

const unmarked = (entry: Entry): Entry => {
  if (entry.event.type !== "tool.failed" || entry.event.outcome !== "interrupted") return entry;
  return { seq: entry.seq, event: { ...entry.event, outcome: "failed" } };
};

/** Something harmless in the place of a tool's start. */
const withoutStart = (stored: unknown): unknown => {
  // A host appended it.
  const entry = stored as Entry;
  if (entry.event.type !== "tool.started") return stored;
  return { seq: entry.seq, event: { type: "checkpoint.named", at: entry.event.at, name: "forgotten" } };
};
