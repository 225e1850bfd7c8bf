import { createHost, type LlmHandler, type Store } from "@colloquy/host";
import { conversationMachine, turnsOf } from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";
import { expect } from "vitest";

import { systemClock, randomIds } from "../../src/ports/system.ts";

/** The traffic over a wire. */
export interface Traffic {
  readonly calls: number;
  readonly bytes: number;
}

const turns = 1500;

/**
 * Checks that an ask on a long thread reads only the parts that it needs, and that returning a state reads all.
 *
 * @param store one whose traffic is counted.
 * @param traffic returns the traffic since its last call.
 */
export const opensLittle = async (store: Store, traffic: () => Traffic): Promise<void> => {
  await begin(store);
  traffic();
  await store.read("long");
  const journal = traffic();

  const asking = hostOn(store);
  expect(await asking.ask("go", { threadId: "long" })).toMatchObject({ text: "ok", turn: turns + 1 });
  const asked = traffic();
  await asking.close();
  // An ask searches the newest 256 turns for its id.
  expect(asked.bytes).toBeLessThan(journal.bytes / 3);
  expect(asked.calls).toBeLessThan(30);
  traffic();

  const looking = hostOn(store);
  expect((await looking.thread("long").figures())?.turns.total).toBe(turns + 1);
  expect(await looking.thread("long").approvals()).toEqual([]);
  expect(traffic().bytes).toBeLessThan(journal.bytes / 10);

  const state = await looking.thread("long").state();
  expect(state === null ? [] : turnsOf(state)).toHaveLength(turns + 1);
  // The head, its entry, and all chunks.
  expect(traffic().calls).toBe(3);
  await looking.close();
};

const begin = async (store: Store): Promise<void> => {
  const host = hostOn(store);
  const thread = host.thread("long");
  await thread.start();
  const adding = Array.from({ length: turns }, (_, index) =>
    thread.addTurn([
      { role: "user", content: `question ${index}: ${"what is there to say? ".repeat(20)}` },
      { role: "assistant", content: `answer ${index}: ${"as much as there is. ".repeat(20)}` },
    ]),
  );
  await Promise.all(adding);
  await host.close();
};

const hostOn = (store: Store) =>
  createHost({
    store,
    clock: systemClock,
    ids: randomIds,
    llm,
    machine: conversationMachine({ policy: tokenWindow({ tokens: 1000 }) }),
  });

const llm: LlmHandler = async () => ({
  type: "completed",
  reply: { content: "ok" },
  finishReason: "stop",
  usage: { inputTokens: 10, outputTokens: 2 },
});
