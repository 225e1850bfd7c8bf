import { getEventListeners } from "node:events";
import type { LlmHandler } from "@colloquy/host";
import { memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { sessionOf } from "../programs.ts";

const history = { exchanges: [], as: "override" } as const;

test.each(["handle", "signal"])(
  "a call without a turn that is cancelled by its %s, with a reason, cancels what it called, and rejects with an error",
  async (by) => {
    const begun = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const llm: LlmHandler = (_, { signal }) =>
      new Promise((__, reject) => {
        signal.addEventListener("abort", () => {
          cancelled.resolve();
          reject(new Error("too late"));
        });
        begun.resolve();
      });
    const host = { onObserverError: () => {} };
    const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("draft", q)).text }), { llm, host });
    const controller = new AbortController();
    const call = qa.call({ q: "Q" }, { history, signal: controller.signal });
    await begun.promise;
    if (by === "handle") call.abort("enough");
    else controller.abort("enough");
    const thrown = await call.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(String(thrown)).toContain("cancelled: enough");
    await cancelled.promise;
  },
);

test("a call without a turn whose signal has fired already rejects with its reason, and its program hears of it", async () => {
  const heard: boolean[] = [];
  const qa = sessionOf((_, { signal }) => {
    heard.push(signal.aborted);
    return new Promise(() => {});
  });
  await expect(qa.call({ q: "Q" }, { history, signal: AbortSignal.abort("enough") })).rejects.toThrow(/enough/);
  expect(heard).toEqual([true]);
});

test("a call without a turn lets go of its caller's signal", async () => {
  const { signal } = new AbortController();
  const listening = (): number => getEventListeners(signal, "abort").length;
  const qa = sessionOf(() => ({ a: String(listening()) }));
  expect(await qa.call({ q: "Q" }, { history, signal })).toEqual({ a: "1" });
  expect(listening()).toBe(0);
});

test("a model call within a call without a turn is no other call's, whatever ids the callers give", async () => {
  let balance = 0;
  const llm: LlmHandler = async () => {
    balance += 1;
    return { type: "completed", reply: { content: String(balance) }, finishReason: "stop" };
  };
  const store = memoryStore();
  const qa = sessionOf(async (_, { ask }) => ({ a: (await ask("lookup", "my balance")).text }), { store, llm });
  const once = { history, askId: "1" };
  // "1" is also the number of a turn.
  expect(await qa.call({ q: "Q" })).toEqual({ a: "1" });
  expect(await qa.call({ q: "Q" }, once)).toEqual({ a: "2" });
  expect(await qa.user("ada").call({ q: "Q" }, once)).toEqual({ a: "3" });
  expect(await qa.user("bob").call({ q: "Q" }, once)).toEqual({ a: "4" });
  expect(await qa.user("bob").call({ q: "Q" }, once)).toEqual({ a: "4" });
});

test("a call without a turn shows each reader the parts of its program and of the models that this asks", async () => {
  const llm = scriptedModel([reply("A")]);
  const qa = sessionOf(
    async ({ q }, { status, partial, ask }) => {
      status("thinking");
      partial({ a: "…" });
      return { a: (await ask("draft", q)).text };
    },
    { llm },
  );
  const call = qa.call({ q: "Q" }, { history });
  expect([call.threadId, await call]).toEqual([null, { a: "A" }]);
  for (const reader of [call, call]) {
    const parts: string[] = [];
    for await (const part of reader) parts.push(part.type === "nested" ? part.part.type : part.type);
    expect(parts.slice(0, 3)).toEqual(["status", "partial", "turn.started"]);
    expect(parts).toContain("text.delta");
  }
});

test("the program of a call without a turn may call other sessions, but not its own", async () => {
  const other = sessionOf(({ q }) => ({ a: q }), { name: "other" });
  const itself = sessionOf(({ q }) => (q === "own" ? itself.call({ q }) : other.call({ q })), { name: "itself" });
  await expect(itself.call({ q: "own" }, { history })).rejects.toThrow(/"itself" calls its own session/);
  expect(await itself.call({ q: "other" }, { history })).toEqual({ a: "other" });
});

test("a rejected call has its id but no thread, and ignores abort", async () => {
  const qa = sessionOf(() => ({ a: "" }));
  // @ts-expect-error unknown option
  const call = qa.call({ q: "Q" }, { askId: "mine", histroy: [] });
  call.abort("enough");
  expect([call.threadId, call.askId]).toEqual([null, "mine"]);
  await expect(call).rejects.toThrow('call has no option "histroy"');
  // @ts-expect-error not a text
  await expect(qa.call({ q: "Q" }, { askId: 7 })).rejects.toThrow("call: askId must be a text");
});
