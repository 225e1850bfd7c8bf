// Two hosts on one store, each with its own connection. A host with an idle thread gives it to the other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Host, LlmHandler, Store } from "@colloquy/host";
import { afterAll, describe, expect, test } from "vitest";

import { createHost, filesStore, memoryStore, sqliteStore, ThreadHeldError } from "../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-idle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;

/** Functions that make a place for threads and return a function that opens a store on it. */
const stores: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memoryStore();
    return () => store;
  },
  SQLite: () => {
    const path = join(folder, `${(made += 1)}.db`);
    return () => sqliteStore({ path });
  },
  files: () => {
    const inner = join(folder, `${(made += 1)}`);
    return () => filesStore({ folder: inner });
  },
};

/** Calls that need the lease. */
const uses: Readonly<Record<string, (host: Host, elsewhere: Host) => PromiseLike<unknown>>> = {
  redacts: (host) => host.thread().redact({ turn: 1 }),
  deletes: (host) => host.thread().delete(),
  moves: (host, elsewhere) => host.thread().moveTo(elsewhere),
  "asks, and posts no asks": (host) => host.ask("two"),
  edits: (host) => host.thread().append({ role: "user", content: "two" }),
};

const answers: LlmHandler = async ({ turn }) => ({
  type: "completed",
  reply: { content: `answer ${turn}` },
  finishReason: "stop",
});

describe.each(Object.entries(stores))("a thread on the store %s that another host holds", (_, place) => {
  const withHosts = async (
    llm: LlmHandler,
    work: (holder: Host, other: Host, elsewhere: Host) => Promise<void>,
  ): Promise<void> => {
    const open = place();
    const [one, two, three] = [open(), open(), memoryStore()];
    const options = { pollMs: 10, idleMs: 3_600_000, whenHeld: "reject", recovery: false } as const;
    const hosts = [createHost({ ...options, llm, store: one }), createHost({ ...options, llm: answers, store: two })];
    const [holder, other] = hosts as [Host, Host];
    const elsewhere = createHost({ llm: answers, store: three, recovery: false });
    try {
      await work(holder, other, elsewhere);
    } finally {
      for (const host of [...hosts, elsewhere]) await host.close();
      for (const store of [one, two]) await store.close();
    }
  };

  test.each(Object.entries(uses))("is given to one that %s, and back", (name, use) =>
    withHosts(answers, async (holder, other, elsewhere) => {
      await holder.ask("one");
      await use(other, elsewhere);
      const { turn } = await holder.ask("three");
      // A removed thread begins again.
      expect(turn).toBe(name === "deletes" || name === "moves" ? 1 : name.startsWith("asks") ? 3 : 2);
    }),
  );

  test.each(Object.entries(uses))("is not given to one that %s while its holder works on it", (_name, use) => {
    const called = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const waits: LlmHandler = async (call, context) => {
      called.resolve();
      await released.promise;
      return answers(call, context);
    };
    return withHosts(waits, async (holder, other, elsewhere) => {
      const asked = holder.ask("one");
      await called.promise;
      await expect(Promise.resolve(use(other, elsewhere))).rejects.toBeInstanceOf(ThreadHeldError);
      released.resolve();
      expect((await asked).text).toBe("answer 1");
      const journal = await other.thread().exportJournal();
      expect(journal.map(({ event }) => event.type)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    });
  });
});
