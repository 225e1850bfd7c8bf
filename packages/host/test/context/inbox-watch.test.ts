import type { Event } from "@colloquy/machine";
import type { Inbox } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { inboxOf, says, stage, stored } from "../stage.ts";

const pollMs = 200;

/** An idle thread is released for the host that posted an item, and taken back if that host does not take it. */
const takenBackMs = 6 * pollMs;

/** Opens some threads on a memory store with some changed inbox methods, which notes at which inboxes a host looks. */
const open = async (change: (inner: Inbox) => Inbox) => {
  const { clock, inner } = stored();
  const inbox = inboxOf(inner);
  const looks: string[] = [];
  const reported: string[] = [];
  const unanswered = (threadId: string): Promise<readonly unknown[]> => {
    looks.push(threadId);
    return inbox.unanswered(threadId);
  };
  const { host } = stage({
    clock,
    store: overriding(inner, { inbox: { ...change(inbox), unanswered } }),
    script: ["a", "b", "c", "again"].map((text) => says(text)),
    pollMs,
    idleMs: 60_000,
    onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
  });
  for (const threadId of ["a", "b", "c"]) await host.ask("hi", { threadId });
  looks.length = 0;
  const ask: Event = { type: "ask.received", at: 1, askId: "again", input: "again" };
  return { clock, host, looks, reported, post: () => inbox.post("b", { id: "item", event: ask }) };
};

test("a host looks only at the inboxes in which items wait", async () => {
  const { clock, host, looks, post } = await open((inbox) => inbox);
  await clock.advance(10 * pollMs);
  expect(looks).toEqual([]);
  await post();
  await clock.advance(pollMs);
  expect(looks).toEqual(["b"]);
  await clock.advance(takenBackMs);
  expect((await host.thread("b").asked("again"))?.status).toBe("completed");
});

test("a store that fails to name the threads is reported once, and asked again", async () => {
  let isFailing = true;
  const { clock, host, reported, post } = await open((inbox) => ({
    ...inbox,
    waiting: async () => {
      if (isFailing) throw new Error("down");
      return inbox.waiting();
    },
  }));
  await post();
  await clock.advance(5 * pollMs);
  expect(reported).toEqual(["store: Error: down"]);
  isFailing = false;
  await clock.advance(pollMs + takenBackMs);
  expect((await host.thread("b").asked("again"))?.status).toBe("completed");
});
