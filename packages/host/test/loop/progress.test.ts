import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gated } from "../gated-store.ts";
import { answered, entriesOf, journalOf, manualClock, partsOf, stage, settle } from "../stage.ts";
import { type LlmContext, type LlmOutcome, memoryStore } from "@colloquy/host";
import { expect, test } from "vitest";

/** A model call that waits until the test answers it, and its context. */
const open = () => {
  const { promise, resolve } = Promise.withResolvers<LlmOutcome>();
  const context = Promise.withResolvers<LlmContext>();
  return {
    step: async (_: unknown, given: LlmContext) => {
      context.resolve(given);
      return promise;
    },
    answer: resolve,
    context: context.promise,
  };
};

test("the host journals each piece of a streamed reply once, and all pieces with the failure of the reply", async () => {
  const model = open();
  const { host, store, clock } = stage({ script: [model.step], progressMs: 1_000 });
  const asked = host.ask("go");
  asked.catch(() => {});
  const { onDelta } = await model.context;
  const pieces = [
    ["text:Once", "text: upon"],
    ["text: a", "reasoning:Hm", "reasoning:m"],
    ["reasoning:!", "text: \ud83d"],
    ["text:\ude42", "text:", "refusal:No"],
    ["text:"],
    ["refusal:."],
  ] as const;
  for (const shown of pieces) {
    for (const piece of shown) {
      const [type, text = ""] = piece.split(":");
      if (type === "text" || type === "reasoning" || type === "refusal") onDelta({ type, text });
    }
    await clock.advance(1_000);
  }
  model.answer({ type: "failed", failure: { kind: "unknown", message: "broken", retryable: false } });
  await expect(asked).rejects.toThrow("broken");
  const journalled = (await entriesOf(store)).flatMap(({ event }) =>
    event.type === "llm.progressed" || event.type === "llm.failed" ? [event.partial?.content] : [],
  );
  expect(journalled).toEqual([
    "Once upon",
    [
      { type: "text", text: " a" },
      { type: "reasoning", text: "Hmm" },
    ],
    [
      { type: "reasoning", text: "!" },
      { type: "text", text: " \ud83d" },
    ],
    [
      { type: "text", text: "\ude42" },
      { type: "refusal", text: "No" },
    ],
    [{ type: "refusal", text: "." }],
    [
      { type: "text", text: "Once upon a" },
      { type: "reasoning", text: "Hmm!" },
      { type: "text", text: " 🙂" },
      { type: "refusal", text: "No." },
    ],
  ]);
});

test("a repeated model call voids what was journalled of the first one, also if its first piece has no text", async () => {
  const [model, again] = [open(), open()];
  const first = stage({ owner: "same", script: [model.step], progressMs: 1_000 });
  first.host.ask("go", { askId: "a" }).catch(() => {});
  (await model.context).onDelta({ type: "text", text: "Once" });
  await first.clock.advance(1_000);
  await first.host.close();
  const next = first.another({ script: [again.step] });
  const asked = next.host.ask("go", { askId: "a" });
  const { onDelta } = await again.context;
  for (const text of ["", "Twice"]) {
    onDelta({ type: "text", text });
    await first.clock.advance(1_000);
  }
  const progress = (await entriesOf(first.store)).flatMap(({ event }) =>
    event.type === "llm.progressed" ? [[event.partial.content, event.again === true]] : [],
  );
  expect(progress).toEqual([
    ["Once", false],
    ["Twice", true],
  ]);
  again.answer({ type: "completed", reply: { content: "Twice." }, finishReason: "stop" });
  await asked;
});

test("a reply that ends before its progress is due is journalled once, and leaves no timer behind", async () => {
  const model = open();
  const { host, store, clock } = stage({ script: [model.step], progressMs: 1_000 });
  const asked = host.ask("go");
  const { onDelta } = await model.context;
  onDelta({ type: "text", text: "Hello." });
  await clock.advance(999);
  model.answer({ type: "completed", reply: { content: "Hello." }, finishReason: "stop" });
  await asked;
  await clock.advance(1_000);
  expect(await journalOf(store)).toEqual(answered);
  await host.close();
  expect(clock.sleepers).toBe(0);
});

test("an ask shows nothing that a model handler sends after its reply", async () => {
  const model = open();
  const gate = gated(memoryStore({ clock: manualClock() }));
  const { host } = stage({ store: gate.store, script: [model.step] });
  const asked = host.ask("go");
  await settle();
  await gate.pass();
  await gate.pass();
  const { onDelta, onWait } = await model.context;
  onDelta({ type: "text", text: "Hello." });
  model.answer({ type: "completed", reply: { content: "Hello." }, finishReason: "stop" });
  await settle();
  onDelta({ type: "text", text: " Goodbye." });
  onWait?.(null);
  expect(gate.waiting).toEqual(["llm.completed"]);
  await gate.pass();
  const parts = await partsOf(asked);
  expect(parts.flatMap((part) => (part.type === "text.delta" ? [part.text] : []))).toEqual(["Hello."]);
  expect(parts.filter(({ type }) => type.startsWith("wait."))).toEqual([]);
  await host.close();
});

test("an ask shows how long its model call waits, and shows no wait after it was aborted", async () => {
  const model = open();
  const gate = gated(memoryStore({ clock: manualClock() }));
  const { host } = stage({ store: gate.store, script: [model.step] });
  const asked = host.ask("go");
  await settle();
  await gate.pass();
  await gate.pass();
  const context = await model.context;
  context.onWait?.(2_000_000);
  context.onWait?.(null);
  context.onWait?.("over");
  asked.abort();
  await settle();
  context.onWait?.(3_000_000);
  await gate.pass();
  expect((await partsOf(asked)).filter(({ type }) => type.startsWith("wait."))).toEqual([
    { type: "wait.started", for: "model", until: 2_000_000 },
    { type: "wait.started", for: "model", until: null },
    { type: "wait.ended" },
  ]);
  await host.close();
});

test("the host keeps a streamed reply in memory only once, however often it journals progress", async () => {
  setFlagsFromString("--expose-gc");
  // Cast: the flag adds this function to new contexts.
  const collect = runInNewContext("gc") as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const model = open();
  const { host, store, clock } = stage({ script: [model.step], progressMs: 1_000 });
  const asked = host.ask("go");
  const { onDelta } = await model.context;
  const before = used();
  for (let piece = 0; piece < 100; piece++) {
    onDelta({ type: "text", text: String(piece).padEnd(40_000, "x") });
    await clock.advance(1_000);
  }
  model.answer({ type: "completed", reply: { content: "short" }, finishReason: "stop" });
  await asked;
  await settle();
  // The model streams 4 MB. If each entry kept the text so far, they would take 200 MB.
  expect(used() - before).toBeLessThan(40_000_000);
  expect(await entriesOf(store)).toHaveLength(103);
  await host.close();
});
