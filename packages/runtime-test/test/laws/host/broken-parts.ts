import { createHost, type Host, type HostedThread, memoryStore, type Store, type Tool } from "@colloquy/host";
import type { StoredSnapshot } from "@colloquy/host/store";
import type { HostUnderTest } from "@colloquy/runtime-test/laws";
import { changed, changedHost } from "../../simulate/broken-host.ts";

/** A memory store that does some things otherwise. */
export const withStore = (change: (store: Store) => Partial<Store>): HostUnderTest => ({
  createStore: ({ clock }) => {
    const store = memoryStore({ clock });
    return changed(store, {
      search: async (...given) => (await store.search?.(...given)) ?? { hits: [], next: null },
      ...change(store),
    });
  },
});

/** A host whose tools do some things otherwise. */
export const withTools = (change: (tool: Tool) => Tool): HostUnderTest => ({
  createHost: (options) => createHost({ ...options, tools: (options.tools ?? []).map(change) }),
});

/** A host that does some things otherwise. */
export const withHost = (change: (host: Host) => Partial<Host>): HostUnderTest => ({
  createHost: (options) => {
    const host = createHost(options);
    return changedHost(host, change(host));
  },
});

/** A host whose threads do some things otherwise. */
export const withThread = (change: (thread: HostedThread) => Partial<HostedThread>): HostUnderTest =>
  withHost((host) => ({ thread: (threadId) => changedThread(host.thread(threadId), change) }));

/** It asks under an id that it draws, whatever it was given. */
export const renamed =
  (host: Host): Host["ask"] =>
  (input, { askId: _, ...options } = {}) =>
    host.ask(input, options);

/** From the fifth entry on it takes those for stored that are not. */
export const forgetful = (store: Store): Partial<Store> => ({
  append: (lease, seq, entries) => (seq > 3 ? undefined : store.append(lease, seq, entries)),
});

/** It gives the first snapshot of a thread for ever. */
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

/** It finds whatever is looked for. */
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
