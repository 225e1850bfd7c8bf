import type { Clock } from "@colloquy/host";
import {
  type InboxAnswer,
  type Lease,
  LeaseLostError,
  SequenceConflictError,
  type Store,
  type EngineNews,
} from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";
import { type IngressClient, rpc } from "@restatedev/restate-sdk-clients";
import type { Mail, ThreadHandlers, Told, Writing } from "./handlers.ts";
import type { Hub, HubMessage } from "./hub.ts";
import { laterMs } from "./worker-context.ts";
import type { ShownPart } from "@colloquy/host/perform";

/** Where the threads of an engine are. */
export interface EngineStoreOptions {
  /** The handlers of a thread, by its id. */
  readonly thread: (threadId: string) => IngressClient<ThreadHandlers>;
  readonly hub: Hub | null;
  readonly clock: Clock;
}

/** The threads of an engine, as a store behind which they are performed. Restate has no index of them, so none is listed or found by its words. */
export const engineStore = ({ thread, hub, clock }: EngineStoreOptions): Store => {
  const followed = new Map<string, FollowedThread>();
  const send = async (threadId: string, id: string, event: Mail["event"]): Promise<InboxAnswer> => {
    for (let times = 1; ; times++) {
      const told = await tell(thread(threadId), times === 1 ? id : `${id} ${times}`, { event });
      if (told.type === "handled") return { id, handled: true, seq: told.seq };
      if (told.type === "refused") return { id, handled: false, refusal: told.refusal };
      await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + laterMs, resolve));
    }
  };
  const follow = (threadId: string, heard: ConstructorParameters<typeof FollowedThread>[0]): (() => void) => {
    const known = new FollowedThread(heard);
    const stop = hub?.subscribe(threadId, (message) => known.hear(message));
    followed.set(threadId, known);
    return () => {
      stop?.();
      if (followed.get(threadId) === known) followed.delete(threadId);
    };
  };
  return {
    engine: { send, ...(hub === null ? {} : { follow }) },
    read: async (threadId, from = 0) => followed.get(threadId)?.unread(from) ?? readAll(thread(threadId), from),
    acquire: async (threadId, owner, ttlMs) => thread(threadId).lease({ owner, ttlMs }),
    renew: async (lease, ttlMs) => (await thread(lease.threadId).lease({ owner: lease.owner, ttlMs, lease })) !== null,
    release: async (lease) => thread(lease.threadId).release(lease),
    append: async (lease, expectedSeq, entries) =>
      check(lease, expectedSeq, await thread(lease.threadId).append({ lease, expectedSeq, entries })),
    rewrite: async (lease, entries) => check(lease, -1, await thread(lease.threadId).rewrite({ lease, entries })),
    // The engine writes its own.
    saveSnapshot: async () => {},
    readSnapshot: async () => null,
    list: async () => {
      throw new Error("Restate has no list of threads; keep one where you ask, as by the answer of each ask");
    },
    delete: async (threadId, lease) => {
      const existed = await thread(threadId).remove(lease ?? null);
      if (existed !== null) return existed;
      throw new LeaseLostError(lease ?? { threadId, owner: "", token: 0 });
    },
    close: async () => {},
  };
};

const readAll = async (thread: IngressClient<ThreadHandlers>, from: number): Promise<readonly Entry[]> => {
  const read: Entry[] = [];
  for (;;) {
    const { entries, isLast } = await thread.journal(from + read.length);
    read.push(...entries);
    // One that was deleted meanwhile ends where it is not there.
    if (isLast || entries.length === 0) return read;
  }
};

const tell = async (thread: IngressClient<ThreadHandlers>, key: string, mail: Mail): Promise<Told> => {
  let told = await thread.tell(mail, rpc.opts({ idempotencyKey: key }));
  // Again, where another reply has begun while it was asked what was shown of the one before.
  while (told.type === "cutsOff") {
    const { effectId } = told;
    told = await thread.cut({ mail, effectId }, rpc.opts({ idempotencyKey: `${key} ${effectId}` }));
  }
  return told;
};

const check = (lease: Lease, expectedSeq: number, writing: Writing): void => {
  if (writing.type === "leaseLost") throw new LeaseLostError(lease);
  if (writing.type === "conflict") throw new SequenceConflictError(lease.threadId, expectedSeq, writing.actualSeq);
};

/** What is heard of a thread by a hub. It becomes news, and entries that were heard need not be read. */
export class FollowedThread {
  readonly #tell: (news: EngineNews) => void;
  /** The newest entries that were heard, one after the other. */
  #entries: HeardEntries = [];
  /** Whether some of them were not read yet. */
  #hasNew = false;
  /** The runs of each effect, the newest last. */
  readonly #runs = new Map<string, readonly string[]>();

  constructor(tell: (news: EngineNews) => void) {
    this.#tell = tell;
  }

  hear(message: HubMessage): void {
    if (message.type === "shown") {
      if (this.#isOfNewest(message)) this.#show(message.parts);
      return;
    }
    this.#keep(message.entries);
    // What it shows was shown before it was journalled, where it is a delta; else it is shown with its entry.
    this.#tell({ type: "entries" });
    this.#show(message.parts);
  }

  /** The entries from a seq on, where all of them were heard and some were not read yet; else null. */
  unread(from: number): HeardEntries | null {
    const first = this.#entries[0]?.seq;
    if (!this.#hasNew || first === undefined || from < first) return null;
    this.#hasNew = false;
    return this.#entries.slice(from - first);
  }

  #keep(heard: HeardEntries): void {
    const next = (this.#entries.at(-1)?.seq ?? -1) + 1;
    // Words that were taken out stand in entries that were heard before.
    const goesOn = heard[0]?.seq === next && !heard.some(({ event }) => event.type === "thread.redacted");
    this.#entries = [...(goesOn ? this.#entries : []), ...heard].slice(-heardMost);
    this.#hasNew = heard.length > 0;
  }

  #show(parts: readonly ShownPart[]): void {
    for (const { turn, part } of parts) this.#tell({ type: "part", turn, part });
  }

  /** What a run showed is void when another begins: its process is gone, or believed to be. */
  #isOfNewest({ effectId, run, parts }: Extract<HubMessage, { readonly type: "shown" }>): boolean {
    const runs = this.#runs.get(effectId) ?? [];
    if (runs.includes(run)) return runs.at(-1) === run;
    this.#runs.set(effectId, [...runs, run]);
    const [first] = parts;
    if (runs.length > 0 && first !== undefined && "step" in first.part) {
      const { turn } = first;
      this.#show([
        { turn, part: { type: "thread.lost", turn } },
        { turn, part: { type: "step.started", turn, step: first.part.step } },
      ]);
    }
    return true;
  }
}

type HeardEntries = Extract<HubMessage, { readonly type: "stored" }>["entries"];

/** How many entries are kept: a follower that is further behind reads. */
const heardMost = 256;
