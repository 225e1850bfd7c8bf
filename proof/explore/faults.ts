// Mistakes that are built in, to see that the search finds them, and at which bound.
import { type HostOptions, type Store, type Tool } from "@colloquy/host";
import { type Inbox, type Lease, LeaseLostError } from "@colloquy/host/store";
import { conversationMachine } from "@colloquy/machine";

import { methodsOf } from "../kit/store-methods.ts";
import type { Fault } from "./run.ts";
import { machineOptions } from "./scene.ts";

/** Writes where the journal ends, whatever the host believes. */
const withoutSwap = (store: Store): Store => ({
  ...methodsOf(store),
  append: async (lease, expected, entries) => {
    const { length } = await store.read(lease.threadId);
    const placed = entries.map((entry, index) => ({ ...entry, seq: length + index }) as typeof entry);
    await store.append(lease, length - 1, length - 1 === expected ? entries : placed);
    if (length - 1 !== expected) throw new Error(`the entries were written at ${length}`);
  },
});

/** Writes, and then looks whether the lease is in force. */
const withLateCheck = (store: Store): Store => {
  let newest: Lease | null = null;
  return {
    ...methodsOf(store),
    acquire: async (...given) => {
      const lease = await store.acquire(...given);
      newest = lease ?? newest;
      return lease;
    },
    append: async (lease, expected, entries) => {
      await store.append(newest ?? lease, expected, entries);
      if (newest?.token !== lease.token) throw new LeaseLostError(lease);
    },
  };
};

/** Waits for an append only for a while. */
const withShortWaits = (options: HostOptions): HostOptions => {
  const { store, clock } = options;
  const { promise: never } = Promise.withResolvers<void>();
  const append: Store["append"] = async (...given) => {
    const waits = Promise.withResolvers<void>();
    const cancel = clock.wakeAt(clock.now() + 400, waits.resolve);
    const appended = Promise.resolve(store.append(...given)).finally(cancel);
    await Promise.race([appended, waits.promise, never]);
    appended.catch(() => undefined);
  };
  return { ...options, store: { ...methodsOf(store), append } };
};

/** Keeps the answers to inbox items only as long as their host has the thread. */
const withShortMemory = (store: Store): Store => {
  const answered = new Map<string, number>();
  let token = 0;
  const methods = methodsOf(store);
  // The stores of this folder have an inbox.
  const inbox = methods.inbox as Inbox;
  return {
    ...methods,
    acquire: async (...given) => {
      const lease = await store.acquire(...given);
      token = lease?.token ?? token;
      return lease;
    },
    inbox: {
      ...inbox,
      answer: async (lease, answers) => {
        await inbox.answer(lease, answers);
        for (const { id } of answers) answered.set(id, lease.token);
      },
      answerTo: async (threadId, id) => {
        const by = answered.get(id);
        return by !== undefined && by !== token ? null : inbox.answerTo(threadId, id);
      },
    },
  };
};

/** Declares that a tool may run again which must not. */
const withRerun = (options: HostOptions): HostOptions => {
  const tools = (options.tools ?? []).map((each): Tool => {
    const { declaration } = each;
    return declaration.name === "pay" ? { ...each, declaration: { ...declaration, recovery: "rerun" } } : each;
  });
  const declared = tools.map(({ declaration }) => declaration);
  return { ...options, tools, machine: conversationMachine({ ...machineOptions, tools: declared }) };
};

/** The faults, each with the bound at which it is found, and below which it is not. */
export const faults = {
  swap: { about: "an append does not compare and swap", store: withoutSwap, scene: "tools", bound: 2 },
  check: { about: "an append looks at the lease after it has written", store: withLateCheck, scene: "tools", bound: 2 },
  early: { about: "an effect is performed before its append is done", host: withShortWaits, scene: "tools", bound: 2 },
  answer: { about: "the inbox loses an answer", store: withShortMemory, scene: "approval", bound: 1 },
  rerun: { about: "a once-only tool runs again after a crash", host: withRerun, scene: "tools", bound: 1 },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

// The keys of this file's own object.
export const faultNames = Object.keys(faults) as readonly FaultName[];
