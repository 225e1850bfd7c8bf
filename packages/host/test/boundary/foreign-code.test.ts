// Stores, handlers, observers and callers in JavaScript may break their types.
import type { LlmDelta, LlmOutcome, Store } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import {
  calls,
  echo,
  entriesOf,
  errorOf,
  journalOf,
  manualClock,
  says,
  type ScriptedStep,
  stage,
  stored,
} from "../stage.ts";

const wrapped = (
  change: (store: Store) => Partial<Store>,
): { readonly store: Store; readonly clock: ReturnType<typeof manualClock> } => {
  const { clock, inner: store } = stored();
  return { clock, store: overriding(store, change(store)) };
};

describe("a store", () => {
  test("that gives another thread's journal is found out before a word is sent", async () => {
    const mixed = wrapped((store) => ({ read: () => store.read("one") }));
    const first = stage({ ...mixed, script: [says("ok")] });
    await first.host.ask("the words of one", { threadId: "one" });
    const other = first.another({ script: [says("ok")] });
    await expect(other.host.ask("hi", { threadId: "two" }).then(String, String)).resolves.toMatch(
      /it is the journal of thread "one"; the store mixed them up/,
    );
    expect(other.model.calls).toEqual([]);
    await first.host.close();
    await other.host.close();
  });

  test("whose journals are mixed up is not redacted, copied or exported", async () => {
    const mixed = wrapped((store) => ({ read: () => store.read("one") }));
    const { host } = stage({ ...mixed, script: [says("ok")] });
    await host.ask("the words of one", { threadId: "one" });
    const thread = host.thread("two");
    const attempts = [thread.redact({ turn: 1 }), thread.fork(), thread.exportJournal(), thread.at(0)];
    for (const attempt of attempts)
      await expect(attempt.then(String, String)).resolves.toMatch(
        /it is the journal of thread "one"; the store mixed them up/,
      );
    await host.close();
  });

  test("that gives no list learns so", async () => {
    const odd = wrapped(() => ({ read: async () => null as unknown as readonly unknown[] }));
    const { host } = stage({ ...odd, script: [says("ok")] });
    await expect(host.ask("hi").then(String, String)).resolves.toMatch(/read the journal: it gave null, not a list/);
    await host.close();
  });

  test("may answer with any thenable", async () => {
    const thenable = wrapped((store) => ({
      append: (...given) => {
        const appended = Promise.resolve(store.append(...given));
        // oxlint-disable-next-line unicorn/no-thenable -- a promise of a library, which has no `catch`
        return { then: appended.then.bind(appended) } as Promise<void>;
      },
    }));
    const { host } = stage({ ...thenable, script: [says("ok")] });
    expect((await host.ask("hi")).text).toBe("ok");
    await host.close();
  });
});

describe("a handler", () => {
  const odd: readonly (readonly [string, unknown])[] = [
    ["a BigInt in its usage", { ...says("ok"), usage: { inputTokens: 10n } }],
    ["a BigInt beside its reply", { ...says("ok"), extra: 10n }],
    [
      "a getter that throws",
      {
        type: "completed",
        get reply(): never {
          throw new Error("no");
        },
        finishReason: null,
      },
    ],
    ["a reply that was not awaited", { ...says("ok"), reply: Promise.resolve({ content: "ok" }) }],
    ["a circle", Object.assign({ type: "completed", reply: {} }, { self: circle() })],
    [
      "a value nested too deep for its entry to be readable",
      { type: "completed", reply: { content: "ok", provider: nestedIn(253) }, finishReason: "stop" },
    ],
    [
      "a value nested too deep, beside a date",
      {
        type: "completed",
        reply: { content: "ok", provider: { ...nestedIn(400), at: new Date(0) } },
        finishReason: "",
      },
    ],
    [
      "a member that objects do not keep",
      { type: "completed", reply: { content: "ok", provider: JSON.parse('{"__proto__":1}') }, finishReason: "stop" },
    ],
  ];

  test.each(odd)("that returns %s ends the turn as failed, and the thread continues", async (_, outcome) => {
    const { host, another } = stage({ script: [async () => outcome as LlmOutcome] });
    await expect(host.ask("hi").then(String, String)).resolves.toMatch(
      /the outcome that the llm handler returned can't be used(?!.*: :)/,
    );
    await host.close();
    // A restart reads the journal again.
    const { host: restarted } = another({ script: [says("again")] });
    expect((await restarted.ask("hi again")).text).toBe("again");
    await restarted.close();
  });
});

test("a handler that returns a date, for which JSON has a text, has its reply kept with that text", async () => {
  const outcome = { ...says("ok"), reply: { content: "ok", provider: { at: new Date(0) } } };
  const { host, store } = stage({ script: [async () => outcome as object as LlmOutcome] });
  expect((await host.ask("hi")).text).toBe("ok");
  expect((await entriesOf(store)).at(-1)?.event).toMatchObject({
    reply: { content: "ok", provider: { at: "1970-01-01T00:00:00.000Z" } },
  });
});

describe("a handler that returns a message of the chat format", () => {
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "echo", arguments: '{"text":"x"}' } }],
  };
  const returns =
    (reply: object): ScriptedStep =>
    // A handler without types returns this.
    async () =>
      ({ type: "completed", reply, finishReason: "tool_calls" }) as unknown as LlmOutcome;

  test.each([
    ["tool_calls", message],
    ["function_call", { content: "", function_call: { name: "echo", arguments: "{}" } }],
  ])("fails if its calls would be lost: %s", async (name, reply) => {
    const { host } = stage({ tools: [echo], script: [returns(reply), says("again")] });
    expect(String(await errorOf(host.ask("hi")))).toContain(
      `can't be used: reply: "${name}" is the chat format's name, and its calls would be lost; return what replyFromChatMessage reads from the message, or the calls as toolCalls`,
    );
    expect((await host.ask("hi again")).text).toBe("again");
    await host.close();
  });

  test("is accepted if our form has its calls, too, or there are none", async () => {
    const toolCalls = [{ id: "1", name: "echo", arguments: '{"text":"x"}' }];
    const script = [returns({ ...message, content: "", toolCalls }), returns({ content: "done", tool_calls: [] })];
    const { host } = stage({ tools: [echo], script });
    expect((await host.ask("hi")).text).toBe("done");
    await host.close();
  });
});

test("a shown value that is not a text is not journalled as one", async () => {
  const shows: ScriptedStep = async (_, { onDelta }) => {
    const call = { type: "toolCall", id: null, name: "x", arguments: "" };
    const stray = [{ type: "text", text: 5 }, { type: "odd", text: "x" }, null, call, { ...call, index: -1 }];
    for (const delta of [...stray, { type: "text", text: "so far" }]) onDelta(delta as LlmDelta);
    return { type: "failed", failure: { kind: "network", message: "gone", retryable: false } };
  };
  const errors: string[] = [];
  const onObserverError = (error: unknown, where: string) => void errors.push(`${where}: ${String(error)}`);
  const { host, another, store } = stage({ script: [shows], onObserverError });
  expect(await errorOf(host.ask("hi"))).toMatchObject({ name: "TurnFailedError" });
  await host.close();
  expect(errors).toEqual(Array(5).fill("llm: TypeError: the llm handler gave onDelta what is no delta"));
  expect((await entriesOf(store)).at(-1)?.event).toMatchObject({ partial: { content: "so far" } });
  const later = another({ script: [says("again")] });
  expect((await later.host.ask("hi again", { askId: "again" })).text).toBe("again");
});

test("a tool that throws an error whose message is no text has failed", async () => {
  const odd = Object.assign(new Error("x"), { message: Object.create(null) as string });
  const throws = { ...echo, run: () => Promise.reject(odd) };
  const { host, model } = stage({ tools: [throws], script: [calls(["echo", { text: "x" }]), says("done")] });
  expect((await host.ask("go")).text).toBe("done");
  expect(JSON.stringify(model.calls[1]?.messages)).toContain(
    '"outcome":"failed","content":[{"type":"text","text":"{}"}]',
  );
});

test("an observer that fails in its own time is reported, and nothing else happens", async () => {
  const reported: string[] = [];
  // An async function fits a type that returns nothing.
  const entry = (): unknown => Promise.reject(new Error("late"));
  const onObserverError = (error: unknown, where: string): unknown => {
    reported.push(`${where}: ${String(error)}`);
    return Promise.reject(new Error("and so does the error handler"));
  };
  const { host } = stage({
    script: [says("ok")],
    observers: [{ entry }],
    onObserverError,
  });
  expect((await host.ask("hi")).text).toBe("ok");
  await Promise.resolve();
  expect(reported[0]).toBe("observer.entry: Error: late");
  await host.close();
});

describe("a caller", () => {
  test.each([[[1]], ["x"], [JSON.parse('{"__proto__":{"a":1}}')], [{ big: 10n }]])(
    "that forks a thread with metadata that no journal keeps is refused, and nothing is stored: %#",
    async (metadata: unknown) => {
      const { host, store } = stage({ script: [says("1")] });
      await host.ask("one");
      const options = { threadId: "copy", metadata: metadata as { readonly a: 1 } };
      expect(await errorOf(host.thread().fork(options))).toMatchObject({
        refusal: { kind: "invalid", reason: expect.stringContaining("metadata") },
      });
      expect(await store.read("copy")).toEqual([]);
    },
  );

  test("that imports the journal of a thread without an id, under another, is refused, and nothing is stored", async () => {
    const { host } = stage();
    const entries = [{ seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "" } }];
    expect(await errorOf(host.importJournal(entries, { threadId: "x" }))).toMatchObject({
      name: "ImportRefusedError",
      index: 0,
    });
    expect((await host.threads()).threads).toEqual([]);
  });

  test("that passes an invalid signal is refused by the handle", async () => {
    const { host } = stage();
    for (const signal of [{}, null, "x"])
      expect(await errorOf(host.ask("hi", { signal: signal as AbortSignal }))).toMatchObject({
        name: "AskRefusedError",
        refusal: { kind: "invalid" },
      });
  });

  test.each([{ turn: "1" }, { turn: 0.5 }, { message: 1 }, { seqs: ["1"] }, { seqs: 1 }, {}, null, "1"])(
    "that redacts by an invalid target learns so: %j",
    async (target: unknown) => {
      const { host, store } = stage({ script: [says("1")] });
      await host.ask("one");
      const refused = await errorOf(host.thread().redact(target as { readonly turn: number }));
      expect(refused).toMatchObject({ name: "EventRefusedError", refusal: { kind: "invalid" } });
      expect(await journalOf(store)).toHaveLength(3);
    },
  );

  test("that gives a number for a thread's id learns so, and nothing is stored under it", async () => {
    const { host } = stage({ script: [says("ok")] });
    await host.ask("hi");
    const threadId = 5 as unknown as string;
    expect(() => host.thread(threadId)).toThrow(/id is 5; it must be a text/);
    await expect(host.thread().fork({ threadId }).then(String, String)).resolves.toMatch(/id is 5/);
    expect((await host.threads()).threads).toHaveLength(1);
  });

  test("that gives a number for an ask id, or an error for a reason, does not spoil the thread", async () => {
    const { host, another } = stage({ script: [says("ok"), () => new Promise(() => {})] });
    await expect(host.ask("hi", { askId: 42 as unknown as string }).then(String, String)).resolves.toMatch(
      /askId.*got 42/,
    );
    await host.ask("hi");
    const handle = host.ask("hi again");
    await handle[Symbol.asyncIterator]().next();
    handle.abort(new Error("enough") as unknown as string);
    await expect(handle.then(String, String)).resolves.toMatch(/TurnCancelledError.*enough/);
    await host.close();
    const later = another({ script: [says("still here")] });
    expect((await later.host.ask("and now?", { askId: "later" })).text).toBe("still here");
    await later.host.close();
  });
});

function nestedIn(levels: number): object {
  return levels === 0 ? {} : { a: nestedIn(levels - 1) };
}

function circle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}
