import { memoryStore, type Store } from "@colloquy/host";
import { lastTurns } from "@colloquy/machine/policies";
import { runningClock } from "@colloquy/runtime-test";
import { reply } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { threadServer } from "../../src/index.ts";
import { at } from "../serving.ts";
import { Chat, stage } from "./page.ts";

test("a page of a long thread has what it shows read, and not all of it", async () => {
  const clock = runningClock();
  const machine = { policy: lastTurns(2) };
  const kept = memoryStore({ clock });
  const fetched: (string | null)[] = [];
  const read: number[] = [];
  const writer = stage([], { clock, machine, store: kept });
  const thread = writer.host.thread("t");
  await thread.start();
  for (let turn = 1; turn <= 1200; turn += 1)
    await thread.addTurn([
      { role: "user", content: `question ${turn}`, provider: { ui: { id: `m${turn}` } } },
      { role: "assistant", content: `answer ${turn}` },
    ]);
  await writer.host.close();

  const { host } = stage([reply("Hi."), reply("Hi again.")], { clock, machine, store: far(kept, fetched, read) });
  const server = threadServer(host);
  const page = await (await server.fetch(at("/ui/t/messages?last=2"))).json();
  expect(page).toMatchObject([{ id: "m1199" }, { id: "turn-1199" }, { id: "m1200" }, { id: "turn-1200" }]);
  const chat = new Chat({ server, messages: page });
  await chat.sendMessage({ text: "Hello?" });
  await chat.regenerate();
  expect(chat.lastMessage?.parts).toMatchObject([{}, { text: "Hi again." }]);
  expect(fetched).not.toContain(null);
  expect(fetched.length).toBeLessThan(25);
  expect(Math.min(...read)).toBeGreaterThan(1100);
  await host.close();
});

/** Makes a store whose chunks must be fetched, as over a network. Records the fetched chunks; null means all. */
const far = (kept: Store, fetched: (string | null)[], read: number[]): Store => {
  const others: Partial<Store> = {
    read: (threadId, fromSeq = 0) => {
      read.push(fromSeq);
      return kept.read(threadId, fromSeq);
    },
    readSnapshot: async (threadId) => {
      const snapshot = await kept.readSnapshot(threadId);
      const had = new Set<string | null>();
      return (
        snapshot && {
          head: snapshot.head,
          chunk: (id) => (had.has(id) || had.has(null) ? snapshot.chunk(id) : undefined),
          fetch: async (chunk) => {
            fetched.push(chunk);
            await Promise.resolve();
            had.add(chunk);
          },
        }
      );
    },
  };
  return new Proxy(kept, {
    get: (target, name) => {
      const member: unknown = Reflect.get(others, name) ?? Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
};
