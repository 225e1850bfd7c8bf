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
import { type Mail, type ThreadHandlers, type Told, type Writing, laterMs } from "./handlers.ts";
import type { Hub, HubMessage } from "./hub.ts";
import type { ShownPart } from "@colloquy/host/perform";

export interface EngineStoreOptions {
  /** Returns the handlers of a thread. */
  readonly thread: (threadId: string) => IngressClient<ThreadHandlers>;
  readonly hub: Hub | null;
  readonly clock: Clock;
}

/**
 * Presents the threads of an engine as a store. Its engine performs their effects. Restate has no index of threads, so the
 * store cannot list or search them.
 */
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
    // Restate itself continues unfinished work.
    abandoned: async () => [],
    append: async (lease, expectedSeq, entries) =>
      check(lease, expectedSeq, await thread(lease.threadId).append({ lease, expectedSeq, entries })),
    rewrite: async (lease, entries) => check(lease, -1, await thread(lease.threadId).rewrite({ lease, entries })),
    // The workers write snapshots.
    saveSnapshot: async () => {},
    readSnapshot: async () => null,
    list: async () => {
      throw new Error("Restate has no list of threads; keep a list of their ids where you ask");
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
    // A thread that was deleted meanwhile has no more entries.
    if (isLast || entries.length === 0) return read;
  }
};

const tell = async (thread: IngressClient<ThreadHandlers>, key: string, mail: Mail): Promise<Told> => {
  let told = await thread.tell(mail, rpc.opts({ idempotencyKey: key }));
  // Repeated if another reply has begun since: that one is cut off then.
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

/** A thread that a hub reports on. Its messages become news, and the entries in them need not be read. */
export class FollowedThread {
  readonly #tell: (news: EngineNews) => void;
  /** The newest entries that were heard, without a gap. */
  #entries: HeardEntries = [];
  /** True while some of them are unread. */
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
    // Deltas were shown before their entry was journalled; other parts are shown with it.
    this.#tell({ type: "entries" });
    this.#show(message.parts);
  }

  /** Returns the entries from a seq on if all were heard and some are unread; else null. */
  unread(from: number): HeardEntries | null {
    const first = this.#entries[0]?.seq;
    if (!this.#hasNew || first === undefined || from < first) return null;
    this.#hasNew = false;
    return this.#entries.slice(from - first);
  }

  #keep(heard: HeardEntries): void {
    const next = (this.#entries.at(-1)?.seq ?? -1) + 1;
    // The entries that were heard before hold the redacted words.
    const goesOn = heard[0]?.seq === next && !heard.some(({ event }) => event.type === "thread.redacted");
    this.#entries = [...(goesOn ? this.#entries : []), ...heard].slice(-heardMost);
    this.#hasNew = heard.length > 0;
  }

  #show(parts: readonly ShownPart[]): void {
    for (const { turn, part } of parts) this.#tell({ type: "part", turn, part });
  }

  /** Checks whether a message comes from the newest run. A new run voids what the one before showed. */
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

/** The most entries that are kept. A follower that is further behind reads the journal. */
const heardMost = 256;
