import {
  AskReturnedError,
  AskSupersededError,
  createHost,
  type Host,
  type HostOptions,
  memoryStore,
} from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import { keepAll } from "@colloquy/machine/policies";
import type { Law, SimulateOptions } from "../../src/simulate/index.ts";
import {
  changed,
  changedHost,
  isLater,
  unheard,
  withAsk,
  withMachine,
  withRecovery,
  withStore,
} from "./broken-host.ts";

/** A host, or a store, with a fault built in, and the law that it has to break. */
export interface Sabotage extends Pick<SimulateOptions, "createHost" | "createStore"> {
  readonly what: string;
  readonly law: Law;
  /** The seed of the first conversation that is tried. Default: 1. */
  readonly from?: number;
}

export const sabotages: readonly Sabotage[] = [
  {
    what: "gives an output that its asker did not validate",
    law: "M13",
    createHost: withAsk({ outcome: async (handle) => ({ ...(await handle), output: { even: 7 } }) }),
  },
  {
    what: "performs before the entry is stored",
    law: "R1",
    createHost: (options) =>
      createHost({
        ...options,
        // A host with this fault would not say that the entry is stored either.
        observers: [],
        store: changed(options.store, {
          append: (...given) => {
            options.clock.wakeAt(
              options.clock.now() + 1,
              () => void Promise.resolve(options.store.append(...given)).catch(() => undefined),
            );
          },
        }),
      }),
  },
  {
    what: "takes entries for stored that are not",
    law: "R3",
    createHost: withStore((store) => ({
      append: (lease, seq, entries) => (seq > 3 ? undefined : store.append(lease, seq, entries)),
    })),
  },
  {
    what: "stores another entry than the one that it acts on",
    law: "R3",
    createHost: withStore((store) => ({
      append: (lease, seq, entries) =>
        store.append(
          lease,
          seq,
          entries.map((entry) => (isLater(entry) ? { ...entry, event: { ...entry.event, at: 0 } } : entry)),
        ),
    })),
  },
  {
    what: "takes an answer twice",
    law: "M6",
    createHost: withStore((store) => ({
      append: async (lease, seq, entries) => {
        await store.append(lease, seq, entries);
        const [entry] = entries;
        if (isLater(entry) && entry.event.type === "llm.completed")
          await store.append(lease, seq + 1, [{ ...entry, seq: seq + 2 }]);
      },
    })),
  },
  {
    what: "runs a tool twice",
    law: "R2",
    createHost: (options) =>
      createHost({
        ...options,
        tools: (options.tools ?? []).map((tool) => ({
          ...tool,
          run: async (input, call) => {
            await tool.run(input, call);
            return tool.run(input, call);
          },
        })),
      }),
  },
  { what: "runs a once-only tool without saying so first", law: "R1", createHost: withRecovery("pay", "rerun") },
  {
    what: "answers in the caller's place",
    law: "R3",
    from: 14,
    createHost: (options) => {
      const host = createHost({
        ...options,
        observers: [
          ...(options.observers ?? []),
          {
            callToAnswer: ({ id }, threadId) => {
              const event = { type: "tool.completed", at: options.clock.now(), effectId: id, content: "Yes." } as const;
              void host
                .thread(threadId)
                .send(event)
                .catch(() => undefined);
            },
          },
        ],
      });
      return host;
    },
  },
  { what: "runs an interrupted tool again", law: "R2", from: 21, createHost: withRecovery("note", "rerun") },
  {
    what: "gives up on a tool that is to be rerun",
    law: "R2",
    from: 5,
    createHost: withRecovery("lookup", "interrupted"),
  },
  {
    what: "does not call the model again after a crash",
    law: "R2",
    createHost: (options) => {
      // Called before anything is appended, it is a call of before.
      let appended = false;
      const store = changed(options.store, {
        read: (...given) => {
          appended = false;
          return options.store.read(...given);
        },
        append: (...given) => {
          appended = true;
          return options.store.append(...given);
        },
      });
      const llm: HostOptions["llm"] = (...given) => (appended ? options.llm(...given) : new Promise(() => undefined));
      return createHost({ ...options, store, llm });
    },
  },
  {
    what: "calls a model without the results of the tools",
    law: "M10",
    createHost: (options) =>
      createHost({
        ...options,
        llm: (call, context) =>
          options.llm({ ...call, messages: call.messages.filter(({ role }) => role !== "tool") }, context),
      }),
  },
  {
    what: "calls a model with another prompt than it decided on",
    law: "R5",
    createHost: (options) =>
      createHost({
        ...options,
        llm: (call, context) => options.llm({ ...call, messages: call.messages.slice(1) }, context),
      }),
  },
  {
    what: "does not stop what is cancelled",
    law: "M7",
    createHost: (options) =>
      createHost({ ...options, llm: (call, context) => options.llm(call, { ...context, signal: unheard() }) }),
  },
  {
    what: "loses summaries that were written",
    law: "settles",
    createHost: (options) =>
      createHost({
        ...options,
        llm: async (call, context) => {
          const outcome = await options.llm(call, context);
          return call.purpose === "summary" ? new Promise(() => undefined) : outcome;
        },
      }),
  },
  {
    what: "lets a thread go of which a summary is being written",
    law: "settles",
    from: 3,
    createHost: (options) => {
      const host = createHost({
        ...options,
        llm: (call, context) => {
          if (call.purpose === "summary") void host.thread(call.threadId).close();
          return options.llm(call, context);
        },
      });
      return host;
    },
  },
  {
    what: "goes on writing a summary that was called off",
    law: "M7",
    createHost: (options) =>
      createHost({
        ...options,
        llm: (call, context) =>
          options.llm(call, call.purpose === "summary" ? { ...context, signal: unheard() } : context),
      }),
  },
  {
    what: "has a live state that the journal does not tell",
    law: "M5",
    createHost: (options) => {
      const host = createHost(options);
      const thread: Host["thread"] = (threadId) => {
        const hosted = host.thread(threadId);
        const state = async (): Promise<State | null> => {
          const told = await Object.getPrototypeOf(hosted).state.call(hosted);
          return told === null ? null : { ...told, context: { ...told.context, updatedAt: 0 } };
        };
        return Object.defineProperty(hosted, "state", { value: state });
      };
      return changedHost(host, { thread });
    },
  },
  {
    what: "says that an ask was given back which another took the place of",
    law: "R3",
    from: 34,
    createHost: withAsk({
      outcome: async (handle) => {
        try {
          return await handle;
        } catch (error) {
          if (error instanceof AskSupersededError) throw new AskReturnedError(error.summary, null);
          throw error;
        }
      },
    }),
  },
  {
    what: "leaves the words in the store that are to be taken out",
    law: "R3",
    from: 9,
    createHost: withStore((store) => ({
      rewrite: async (lease, entries) => {
        const before = await store.read(lease.threadId);
        const unchanged = entries.map((entry): Entry => ({
          // A store of ours reads the entries as they were written.
          ...(before[entry.seq] as Entry),
          redacted: true,
        }));
        await store.rewrite(lease, unchanged);
      },
    })),
  },
  {
    what: "forgets what was said",
    law: "M9",
    createHost: withMachine((machine) => ({
      ...machine,
      policy: { ...keepAll(), decide: () => ({ from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, reason: "" }) },
    })),
  },
  {
    what: "decides otherwise than the machine does",
    law: "R5",
    createHost: withMachine((machine) => ({ ...machine, overlap: { type: "queue", max: 9 } })),
  },
  {
    what: "never answers an ask",
    law: "settles",
    createHost: withAsk({ outcome: () => new Promise(() => undefined) }),
  },
  {
    what: "rejects an ask with anything",
    law: "settles",
    createHost: withAsk({
      outcome: async (handle) => {
        await handle;
        throw new TypeError("undefined is not a function");
      },
    }),
  },
  {
    what: "answers an ask with the wrong turn",
    law: "R3",
    createHost: withAsk({
      outcome: async (handle) => {
        const result = await handle;
        return { ...result, turn: result.turn + 1 };
      },
    }),
  },
  {
    what: "shows an ask without its end",
    law: "settles",
    createHost: withAsk({
      parts: async function* withoutEnd(handle) {
        for await (const part of handle) if (part.type !== "turn.ended") yield part;
      },
    }),
  },
  {
    what: "does not give the thread back",
    law: "settles",
    createHost: withStore(() => ({ release: async () => undefined })),
  },
  {
    what: "goes on waking up when it is closed",
    law: "settles",
    createHost: (options) => {
      const tick = (): void => void options.clock.wakeAt(options.clock.now() + 100, tick);
      tick();
      return createHost(options);
    },
  },
  {
    what: "runs a tool under a lease that has run out",
    law: "R3",
    // It counts on a lease that it does not renew, and waits for a hook that takes longer.
    createHost: (options) =>
      createHost({
        ...options,
        store: changed(options.store, { renew: async () => true }),
        hooks: {
          beforeToolCall: () =>
            new Promise((resolve) => {
              options.clock.wakeAt(options.clock.now() + 700, resolve);
            }),
        },
      }),
  },
  {
    what: "a store that can't be read in the end",
    law: "M3",
    createStore: ({ clock }) => {
      const store = memoryStore({ clock });
      let inspected = false;
      return changed(store, {
        acquire: (threadId, owner, ttlMs) => {
          inspected = owner === "inspector";
          return store.acquire(threadId, owner, ttlMs);
        },
        read: async (...given) => {
          const entries = await store.read(...given);
          return inspected ? entries.with(1, { seq: 1, event: { type: "ask.received" } }) : entries;
        },
      });
    },
  },
  {
    what: "a store that gives the same lease to everybody",
    law: "R3",
    createStore: ({ clock }) =>
      changed(memoryStore({ clock }), { acquire: async (threadId, owner) => ({ threadId, owner, token: 1 }) }),
  },
  {
    what: "a store that loses the last entry",
    law: "R3",
    createStore: ({ clock }) => {
      const store = memoryStore({ clock });
      let journals = 0;
      return changed(store, {
        read: async (...given) => {
          const entries = await store.read(...given);
          return entries.length > 8 + journals++ ? entries.slice(0, -1) : entries;
        },
      });
    },
  },
  {
    what: "a store that changes what was said",
    law: "R3",
    createStore: ({ clock }) => {
      const store = memoryStore({ clock });
      let isOver = false;
      return changed(store, {
        // At the end it is looked whether the thread was given back.
        acquire: (threadId, owner, ttlMs) => {
          isOver ||= owner === "inspector";
          return store.acquire(threadId, owner, ttlMs);
        },
        read: async (...given) => {
          const entries = await store.read(...given);
          return isOver ? JSON.parse(JSON.stringify(entries).replaceAll("What about", "What of")) : entries;
        },
      });
    },
  },
];
