import { conversationMachine } from "@colloquy/machine";
import { createHost, limitCalls, type LlmHandler, memoryStore } from "@colloquy/host";
import { expect, it } from "vitest";
import { entriesOf, manualClock, partsOf, says } from "../stage.ts";

/** 200 conversations of one turn at default settings, against a server that refuses two of three calls: how they end. */
const conversations = async (limited: (handler: LlmHandler) => LlmHandler) => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  let calls = 0;
  const server: LlmHandler = async () => {
    const refused = ++calls % 3 !== 0;
    await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 300, resolve));
    return refused
      ? { type: "failed", failure: { kind: "rate_limit", message: "429", retryable: true, status: 429 } }
      : says("Hello.");
  };
  const ids = { draw: (kind: string) => `${kind}-${++drawn}` };
  let drawn = 0;
  const host = createHost({ clock, ids, store, llm: limited(server), machine: conversationMachine() });
  const asked = Array.from({ length: 200 }, (_, index) => host.thread(`t${index}`).ask("hi"));
  const settled = Promise.allSettled(asked);
  await clock.advance(20 * 60_000);
  const failed = (await settled).filter(({ status }) => status === "rejected").length;
  const entries = await entriesOf(store, "t7");
  const parts = await Promise.all(asked.map(partsOf).map((each) => each.catch(() => [])));
  await host.close();
  return { calls, failed, entries, waited: parts.filter((each) => each.some(({ type }) => type === "wait.started")) };
};

it("all end well with a limiter, and their journals know nothing of refusals", async () => {
  const { calls, failed, entries, waited } = await conversations((handler) => limitCalls(handler, { atOnce: 8 }));
  expect(failed).toBe(0);
  expect(calls).toBe(600);
  expect(entries.map(({ event }) => event.type)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  expect(waited.length).toBeGreaterThan(190);
});

it("fail in part without one: each spends its attempts by itself", async () => {
  const { failed } = await conversations((handler) => handler);
  expect(failed).toBeGreaterThan(40);
});
