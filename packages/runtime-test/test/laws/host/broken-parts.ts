import { createHost, type Host, type HostedThread, memoryStore, type Store, type Tool } from "@colloquy/host";
import type { StoredSnapshot } from "@colloquy/host/store";
import type { HostUnderTest } from "@colloquy/runtime-test/laws";
import { changed, changedHost } from "../../simulate/broken-host.ts";

/** Changes some methods of a memory store. */
export const withStore = (change: (store: Store) => Partial<Store>): HostUnderTest => ({
  createStore: ({ clock }) => {
    const store = memoryStore({ clock });
    return changed(store, change(store));
  },
});

/** Changes the tools of a host. */
export const withTools = (change: (tool: Tool) => Tool): HostUnderTest => ({
  createHost: (options) => createHost({ ...options, tools: (options.tools ?? []).map(change) }),
});

/** Changes some methods of a host. */
export const withHost = (change: (host: Host) => Partial<Host>): HostUnderTest => ({
  createHost: (options) => {
    const host = createHost(options);
    return changedHost(host, change(host));
  },
});

/** Changes some methods of a host's threads. */
export const withThread = (change: (thread: HostedThread) => Partial<HostedThread>): HostUnderTest =>
  withHost((host) => ({ thread: (threadId) => changedThread(host.thread(threadId), change) }));

/** Asks under a random id instead of the given one. */
export const renamed =
  (host: Host): Host["ask"] =>
  (input, { askId: _, ...options } = {}) =>
    host.ask(input, options);

/** Loses the entries from the fifth on, although they count as stored. */
export const forgetful = (store: Store): Partial<Store> => ({
  append: (lease, seq, entries) => (seq > 3 ? undefined : store.append(lease, seq, entries)),
});

/** Always returns the first snapshot of a thread. */
export const keepingSnapshots = (store: Store): Partial<Store> => {
  const first = new Map<string, StoredSnapshot>();
  return {
    saveSnapshot: async (lease, snapshot) => {
      await store.saveSnapshot(lease, snapshot);
      if (first.has(lease.threadId)) return;
      first.set(lease.threadId, {
        head: JSON.stringify([snapshot.head, ...snapshot.chunks.values()]),
        chunk: () => undefined,
      });
    },
    readSnapshot: async (threadId) => first.get(threadId) ?? null,
  };
};

/** Returns a hit for every search. */
export const keepingHits = (): Partial<Store> => ({
  search: async (excerpt) => ({ hits: [{ threadId: "default", seq: 1, at: 0, excerpt }], next: null }),
});

const changedThread = (thread: HostedThread, change: (thread: HostedThread) => Partial<HostedThread>): HostedThread => {
  const others = change(thread);
  return new Proxy(thread, {
    get: (target, name) => {
      const own: unknown = Reflect.get(Reflect.has(others, name) ? others : target, name, target);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });
};
