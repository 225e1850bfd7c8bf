import type { LlmHandler, Store, Tool } from "@colloquy/host";
import type { StoredSnapshot } from "@colloquy/host/store";
import { type CallLlm, canonicalText, digestOf, type Entry, type Json } from "@colloquy/machine";
import { checkPrompt } from "@colloquy/machine/policies";

import { methodsOf, type Through } from "../../kit/store-methods.ts";
import type { RecordFact } from "./facts.ts";
import { calledBy, outcomeOf, resultOf, story, toolsOf } from "./script.ts";

/** How a mortal process records facts, and where it dies. */
export interface Watch {
  readonly fuse: Fuse;
  readonly record: RecordFact;
  readonly sleep: (ms: number) => Promise<void>;
  /** Wraps waits for a store or a server. Default: no wrapper. */
  readonly outside?: Through;
  /** Performs an append, and acknowledges it. Default: at once. */
  readonly append?: (write: () => Promise<void>, acknowledge: () => void) => Promise<void>;
}

export const digestOfEntry = (entry: Entry): string =>
  // JSON.parse returns JSON.
  digestOf(canonicalText(JSON.parse(JSON.stringify(entry)) as Json));

/** A store that records its acknowledgements. A dead process neither reaches it nor gets an answer. */
export interface WatchedStore extends Store {
  /** The newest entry known to be stored; -1 for none. */
  readonly newestSeq: number;
}

export const watchedStore = (
  store: Store,
  { fuse, record, outside = (call) => call(), append = (write) => write() }: Watch,
): WatchedStore => {
  let newestSeq = -1;
  const living: Through = async (call) => {
    if (!fuse.alive) return never();
    const value = await outside(call);
    return fuse.alive ? value : never();
  };
  return {
    ...methodsOf(store, living),
    get newestSeq() {
      return newestSeq;
    },
    append: async (lease, expectedSeq, entries) => {
      const what = `append ${entries.map(({ event }) => event.type).join(", ")}`;
      const acknowledge = (): void => {
        for (const entry of entries) record({ type: "acknowledged", seq: entry.seq, digest: digestOfEntry(entry) });
      };
      return append(async () => {
        if (!fuse.passes("before", what)) return never();
        await outside(async () => store.append(lease, expectedSeq, entries));
        if (!fuse.passes("after", what)) return never();
        acknowledge();
        newestSeq = expectedSeq + entries.length;
      }, acknowledge);
    },
    read: async (threadId, fromSeq = 0) => {
      const entries = await living(() => store.read(threadId, fromSeq));
      newestSeq = Math.max(newestSeq, fromSeq + entries.length - 1);
      return entries;
    },
    readSnapshot: async (...given) => snapshotIn(await living(() => store.readSnapshot(...given)), living),
    close: async () => undefined,
  };
};

const snapshotIn = (snapshot: StoredSnapshot | null, living: Through): StoredSnapshot | null =>
  snapshot?.fetch === undefined
    ? snapshot
    : { ...snapshot, fetch: (chunk) => living(async () => snapshot.fetch?.(chunk)) };

/** Makes the story's model. A summary takes longer than a call waits at once. */
export const watchedModel =
  (store: WatchedStore, { fuse, record, sleep }: Watch, sent = (call: CallLlm) => call.messages): LlmHandler =>
  async (call, { onDelta }) => {
    const what = call.purpose === "summary" ? "summary" : "model";
    const { id, promptDigest } = call;
    record({ type: "performed", what: "model", id, seq: store.newestSeq, promptDigest });
    const problem = checkPrompt(sent(call));
    if (problem !== null) record({ type: "malformed", effectId: id, reason: problem.reason });
    if (!fuse.passes("before", what)) return never();
    await sleep(what === "summary" ? 60 : 5);
    const outcome = outcomeOf(calledBy(call));
    if (outcome.type === "completed" && typeof outcome.reply.content === "string")
      for (const text of outcome.reply.content.split(/(?<= )/)) onDelta({ type: "text", text });
    return fuse.passes("after", what) ? outcome : never();
  };

export const watchedTools = (
  store: Pick<WatchedStore, "newestSeq">,
  { fuse, record, sleep }: Watch,
  overrule: Parameters<typeof toolsOf>[1] = {},
): readonly Tool[] =>
  toolsOf(async (name, { idempotencyKey: id }) => {
    if (!fuse.passes("before", `tool ${name}`)) return never();
    record({ type: "performed", what: name, id, seq: store.newestSeq });
    const takes: Readonly<Record<string, number>> = story.takes;
    await sleep(takes[name] ?? 0);
    if (!fuse.alive) return never();
    record({ type: "done", key: id });
    return fuse.passes("after", `tool ${name}`) ? resultOf(name) : never();
  }, overrule);

/** A point where a process can die: before or after an append, a model call or a tool's run. */
export interface Point {
  readonly when: "before" | "after";
  /** `append llm.completed`, `model`, `tool charge`. */
  readonly what: string;
}

const never = (): Promise<never> => new Promise(() => undefined);

/** The life of a process, which ends at the nth point that it passes, from 1; null: never. */
export class Fuse {
  readonly points: Point[] = [];
  readonly #diesAt: number | null;
  readonly #death: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #onDeath: () => void;
  #alive = true;

  constructor(diesAt: number | null, onDeath: () => void = () => undefined) {
    this.#diesAt = diesAt;
    this.#onDeath = onDeath;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get died(): Promise<void> {
    return this.#death.promise;
  }

  /** Passes a point. Returns false if the process is dead, or dies here. */
  passes(when: Point["when"], what: string): boolean {
    if (!this.#alive) return false;
    this.points.push({ when, what });
    if (this.points.length !== this.#diesAt) return true;
    this.#alive = false;
    this.#onDeath();
    this.#death.resolve();
    return false;
  }
}
