import {
  AskReturnedError,
  AskSupersededError,
  createHost,
  type Host,
  type HostOptions,
  memoryStore,
  type Store,
} from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import { keepAll } from "@colloquy/machine/policies";
import type { Law, SimulateOptions } from "../../src/simulate/index.ts";
import {
  changed,
  changedHost,
  type CreateHost,
  isLater,
  unheard,
  withAsk,
  withMachine,
  withRecovery,
  withStore,
} from "./broken-host.ts";

/** A host or a store with a fault, and the law that it must break. */
export interface Sabotage extends Pick<SimulateOptions, "createHost" | "createStore"> {
  readonly what: string;
  readonly law: Law;
  /** The seed of the first conversation. Default: 1. */
  readonly from?: number;
}

const host = (law: Law, what: string, wrong: CreateHost, from = 1): Sabotage => ({
  law,
  what,
  from,
  createHost: wrong,
});

/** Makes a host with changed options. */
const options = (
  law: Law,
  what: string,
  change: (given: HostOptions) => Partial<HostOptions>,
  from?: number,
): Sabotage => host(law, what, (given) => createHost({ ...given, ...change(given) }), from);

/** Makes a host that calls its model differently. */
const calls = (law: Law, what: string, wrong: (llm: HostOptions["llm"]) => HostOptions["llm"]): Sabotage =>
  options(law, what, ({ llm }) => ({ llm: wrong(llm) }));

const store = (law: Law, what: string, change: (store: Store) => Partial<Store>): Sabotage => ({
  law,
  what,
  createStore: ({ clock }) => {
    const sound = memoryStore({ clock });
    return changed(sound, change(sound));
  },
});

const hosts: readonly Sabotage[] = [
  host(
    "M13",
    "gives an output that its asker did not validate",
    withAsk({ outcome: async (handle) => ({ ...(await handle), output: { even: 7 } }) }),
  ),
  options("R1", "performs before the entry is stored", ({ clock, store: sound }) => ({
    // A host with this fault would not report the entry as stored either.
    observers: [],
    store: changed(sound, {
      append: (...given) => {
        const late = (): void => void Promise.resolve(sound.append(...given)).catch(() => undefined);
        clock.wakeAt(clock.now() + 1, late);
      },
    }),
  })),
  host(
    "R3",
    "takes entries for stored that are not",
    withStore((sound) => ({
      append: (lease, seq, entries) => (seq > 3 ? undefined : sound.append(lease, seq, entries)),
    })),
  ),
  host(
    "R3",
    "stores another entry than the one that it acts on",
    withStore((sound) => ({
      append: (lease, seq, entries) => {
        const others = entries.map((entry) =>
          isLater(entry) ? { ...entry, event: { ...entry.event, at: 0 } } : entry,
        );
        return sound.append(lease, seq, others);
      },
    })),
  ),
  host(
    "M6",
    "takes an answer twice",
    withStore((sound) => ({
      append: async (lease, seq, entries) => {
        await sound.append(lease, seq, entries);
        const [entry] = entries;
        if (isLater(entry) && entry.event.type === "llm.completed")
          await sound.append(lease, seq + 1, [{ ...entry, seq: seq + 2 }]);
      },
    })),
  ),
  options("R2", "runs a tool twice", ({ tools = [] }) => ({
    tools: tools.map((tool) => ({
      ...tool,
      run: async (...given) => {
        await tool.run(...given);
        return tool.run(...given);
      },
    })),
  })),
  host("R1", "runs a once-only tool without saying so first", withRecovery("pay", "rerun")),
  host(
    "R3",
    "answers in the caller's place",
    (given) => {
      const answering = {
        callToAnswer: ({ id: effectId }: { readonly id: string }, threadId: string) => {
          const event = { type: "tool.completed", at: given.clock.now(), effectId, content: "Yes." } as const;
          void broken
            .thread(threadId)
            .send(event)
            .catch(() => undefined);
        },
      };
      const broken = createHost({ ...given, observers: [...(given.observers ?? []), answering] });
      return broken;
    },
    14,
  ),
  host("R2", "runs an interrupted tool again", withRecovery("note", "rerun"), 21),
  host("R2", "gives up on a tool that is to be rerun", withRecovery("lookup", "interrupted"), 5),
  options("R2", "does not call the model again after a crash", ({ llm, store: sound }) => {
    // A call before the first append belongs to the earlier process.
    let appended = false;
    return {
      store: changed(sound, {
        read: (...given) => {
          appended = false;
          return sound.read(...given);
        },
        append: (...given) => {
          appended = true;
          return sound.append(...given);
        },
      }),
      llm: (...given) => (appended ? llm(...given) : new Promise(() => undefined)),
    };
  }),
  calls("M10", "calls a model without the results of the tools", (llm) => (call, context) => {
    const messages = call.messages.filter(({ role }) => role !== "tool");
    return llm({ ...call, messages }, context);
  }),
  calls("R5", "calls a model with another prompt than it decided on", (llm) => (call, context) => {
    const messages = call.messages.slice(1);
    return llm({ ...call, messages }, context);
  }),
  calls(
    "M7",
    "does not stop what is cancelled",
    (llm) => (call, context) => llm(call, { ...context, signal: unheard() }),
  ),
  calls("settles", "loses summaries that were written", (llm) => async (call, context) => {
    const outcome = await llm(call, context);
    return call.purpose === "summary" ? new Promise(() => undefined) : outcome;
  }),
  host(
    "settles",
    "lets a thread go of which a summary is being written",
    (given) => {
      const broken = createHost({
        ...given,
        llm: (call, context) => {
          if (call.purpose === "summary") void broken.thread(call.threadId).close();
          return given.llm(call, context);
        },
      });
      return broken;
    },
    3,
  ),
  calls(
    "M7",
    "goes on writing a summary that was called off",
    (llm) => (call, context) => llm(call, call.purpose === "summary" ? { ...context, signal: unheard() } : context),
  ),
  host("M5", "has a live state that the journal does not tell", (given) => {
    const broken = createHost(given);
    const thread: Host["thread"] = (threadId) => {
      const hosted = broken.thread(threadId);
      const state = async (): Promise<State | null> => {
        const told = await Object.getPrototypeOf(hosted).state.call(hosted);
        return told === null ? null : { ...told, context: { ...told.context, updatedAt: 0 } };
      };
      return Object.defineProperty(hosted, "state", { value: state });
    };
    return changedHost(broken, { thread });
  }),
  host(
    "R3",
    "says that an ask was given back which another took the place of",
    withAsk({
      outcome: async (handle) => {
        try {
          return await handle;
        } catch (error) {
          if (error instanceof AskSupersededError) throw new AskReturnedError(error.summary, null);
          throw error;
        }
      },
    }),
    34,
  ),
  host(
    "R3",
    "leaves the words in the store that are to be taken out",
    withStore((sound) => ({
      rewrite: async (lease, entries) => {
        // The simulated store returns entries as they were written.
        const before = (await sound.read(lease.threadId)) as readonly Entry[];
        const unchanged = entries.map((entry): Entry => ({ ...(before[entry.seq] ?? entry), redacted: true }));
        await sound.rewrite(lease, unchanged);
      },
    })),
    9,
  ),
  host(
    "M9",
    "forgets what was said",
    withMachine((machine) => ({
      ...machine,
      policy: { ...keepAll(), decide: () => ({ from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, reason: "" }) },
    })),
  ),
  host(
    "R5",
    "decides otherwise than the machine does",
    withMachine((machine) => ({ ...machine, overlap: { type: "queue", max: 9 } })),
  ),
  host("settles", "never answers an ask", withAsk({ outcome: () => new Promise(() => undefined) })),
  host(
    "settles",
    "rejects an ask with anything",
    withAsk({
      outcome: async (handle) => {
        await handle;
        throw new TypeError("undefined is not a function");
      },
    }),
  ),
  host(
    "R3",
    "answers an ask with the wrong turn",
    withAsk({
      outcome: async (handle) => {
        const result = await handle;
        return { ...result, turn: result.turn + 1 };
      },
    }),
  ),
  host(
    "settles",
    "shows an ask without its end",
    withAsk({
      parts: async function* withoutEnd(handle) {
        for await (const part of handle) if (part.type !== "turn.ended") yield part;
      },
    }),
  ),
  host(
    "settles",
    "does not give the thread back",
    withStore(() => ({ release: async () => undefined })),
  ),
  options("settles", "goes on waking up when it is closed", ({ clock }) => {
    const tick = (): void => void clock.wakeAt(clock.now() + 100, tick);
    tick();
    return {};
  }),
  // It relies on a lease that it does not renew, and waits for a slower hook.
  options("R3", "runs a tool under a lease that has run out", ({ clock, store: sound }) => ({
    store: changed(sound, { renew: async () => true }),
    hooks: { beforeToolCall: () => new Promise((resolve) => void clock.wakeAt(clock.now() + 700, resolve)) },
  })),
];

const stores: readonly Sabotage[] = [
  store("M3", "a store that can't be read in the end", (sound) =>
    atTheEnd(sound, (entries) => entries.with(1, { seq: 1, event: { type: "ask.received" } })),
  ),
  store("R3", "a store that gives the same lease to everybody", () => ({
    acquire: async (threadId, owner) => ({ threadId, owner, token: 1 }),
  })),
  store("R3", "a store that loses the last entry", (sound) => {
    let journals = 0;
    return {
      read: async (...given) => {
        const entries = await sound.read(...given);
        return entries.length > 8 + journals++ ? entries.slice(0, -1) : entries;
      },
    };
  }),
  store("R3", "a store that changes what was said", (sound) =>
    atTheEnd(sound, (entries) => JSON.parse(JSON.stringify(entries).replaceAll("What about", "What of"))),
  ),
];

/** Falsifies the last read, which checks that the thread was released. */
const atTheEnd = (
  sound: Store,
  change: (entries: readonly unknown[]) => readonly unknown[],
): Pick<Store, "acquire" | "read"> => {
  let isOver = false;
  return {
    acquire: (threadId, owner, ttlMs) => {
      isOver ||= owner === "inspector";
      return sound.acquire(threadId, owner, ttlMs);
    },
    read: async (...given) => {
      const entries = await sound.read(...given);
      return isOver ? change(entries) : entries;
    },
  };
};

export const sabotages: readonly Sabotage[] = [...hosts, ...stores];
