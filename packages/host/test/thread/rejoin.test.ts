import {
  AskRefusedError,
  type AskHandle,
  type AskPart,
  type LlmOutcome,
  memoryStore,
  ThreadUnknownError,
} from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { joined } from "../joined.ts";
import { mortal } from "../mortal-store.ts";
import { asking, paying } from "../paying.ts";
import {
  calls,
  echo,
  errorOf,
  held,
  manualClock,
  partsOf,
  says,
  type ScriptedStep,
  settle,
  stage,
  stored,
} from "../stage.ts";

const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };
const text = (given: string, step = 1): AskPart => ({ type: "text.delta", turn: 1, step, attempt: 1, text: given });
const step = (type: "step.started" | "step.ended", number = 1): AskPart => ({ type, turn: 1, step: number });
const synthesised: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: true };

/** Reads parts of an ask, `count` at most, and returns them. The cursor of the ask is then after them. */
const some = async (handle: AskHandle, count: number): Promise<readonly AskPart[]> => {
  const reader = handle[Symbol.asyncIterator]();
  const parts: AskPart[] = [];
  while (parts.length < count) {
    const next = await reader.next();
    if (next.done === true) break;
    parts.push(next.value);
  }
  return parts;
};

describe("an ask that is rejoined in the process that answers it", () => {
  test("continues after the last read part, even in the middle of a delta", async () => {
    const model = held();
    const { host } = stage({ script: [model.step] });
    const handle = host.ask("hi", { askId: "a" });
    const unread = handle.cursor;
    expect(unread).toBeNull();
    await settle();
    model.show("one ");
    expect(await some(handle, 3)).toEqual([started, step("step.started"), text("one ")]);
    const from = handle.cursor ?? "none";
    model.show("two");
    const again = host.thread().rejoin("a", { from });
    expect(await some(again, 1)).toEqual([text("two")]);
    model.answer(says("one two"));
    await handle;
    expect(await partsOf(host.thread().rejoin("a", { from }))).toEqual([text("two"), step("step.ended"), ended]);
    expect(await partsOf(host.thread().rejoin("a", { from: unread }))).toEqual([
      started,
      step("step.started"),
      text("one two"),
      step("step.ended"),
      ended,
    ]);
    expect(await partsOf(host.thread().rejoin("a", { from: again.cursor ?? "none" }))).toEqual([
      step("step.ended"),
      ended,
    ]);
  });

  test("is shown for a limited time after its end, however long its turn waited for a person before", async () => {
    const { pay } = paying();
    const first = asking({ tools: [pay] });
    void first.host.ask("pay 5", { askId: "a" });
    await settle();
    await first.host.close();
    const model = held();
    const { host, clock } = first.another({ keepPartsMs: 60_000, idleMs: 600_000, script: [model.step] });
    const thread = host.thread();
    // Nobody waits for the ask here.
    await thread.resume();
    await clock.advance(120_000);
    await thread.approve((await thread.approvals())[0]?.id ?? "");
    await settle();
    const live = thread.rejoin("a");
    const shown = partsOf(live);
    await settle();
    model.show("pa");
    model.show("id");
    model.answer(says("paid"));
    const parts = await shown;
    await clock.advance(30_000);
    expect(joined(await partsOf(thread.rejoin("a")))).toEqual(joined(parts));
    expect(await partsOf(thread.rejoin("a", { from: live.cursor }))).toEqual([]);
  });

  test("is shown for a limited time after its end, without a lease, and later from the journal", async () => {
    const { host, clock } = stage({ keepPartsMs: 60_000, idleMs: 10, script: [says("hello"), says("again")] });
    await host.ask("hi", { askId: "a" });
    await clock.advance(1_000);
    const whole = [started, step("step.started"), text("hello"), step("step.ended"), ended];
    expect(await partsOf(host.thread().rejoin("a"))).toEqual(whole);
    expect(clock.sleepers).toBe(0);
    await clock.advance(60_000);
    const replayed = host.thread().rejoin("a");
    expect(await partsOf(replayed)).toEqual([synthesised, ...whole]);
    expect(clock.sleepers).toBe(0);
    expect(await replayed).toMatchObject({ text: "hello" });
  });

  test("is shown each part once to a reader that asks for several at a time", async () => {
    const { host, clock } = stage({ keepPartsMs: 1_000, idleMs: 10, script: [says("hello")] });
    await host.ask("hi", { askId: "a" });
    await clock.advance(60_000);
    const reader = host.thread().rejoin("a")[Symbol.asyncIterator]();
    const read = await Promise.all(Array.from({ length: 14 }, () => reader.next()));
    expect(read.flatMap(({ value }) => value ?? [])).toEqual([
      synthesised,
      started,
      step("step.started"),
      text("hello"),
      step("step.ended"),
      ended,
    ]);
  });

  test("parts that are made from the journal contain no step for an appended assistant message", async () => {
    const { host, clock } = stage({ keepPartsMs: 1_000, idleMs: 10, script: [says("hello")] });
    const thread = host.thread();
    await thread.append({ role: "assistant", content: "Well," });
    await thread.ask("hi", { askId: "a" });
    await clock.advance(60_000);
    const whole = [started, step("step.started"), text("hello"), step("step.ended"), ended];
    expect(await partsOf(thread.rejoin("a"))).toEqual([synthesised, ...whole]);
  });

  test("is shown the request for approval, also if the turn waited for it longer than ended turns are kept", async () => {
    const { pay } = paying();
    const first = asking({ tools: [pay] });
    first.host.ask("pay 5", { askId: "a" }).catch(() => {});
    await settle();
    await first.host.close();
    const { host, clock } = first.another({ script: [says("done")], keepPartsMs: 1_000, idleMs: 60_000 });
    await host.thread().resume();
    const known = await some(host.thread().rejoin("a"), 5);
    expect(known.map(({ type }) => type)).toEqual([
      "replay.started",
      "turn.started",
      "step.started",
      "toolCall",
      "approval.requested",
    ]);
    await clock.advance(2_000);
    await host.thread().approve((await host.thread().approvals())[0]?.id ?? "");
    await settle();
    expect((await partsOf(host.thread().rejoin("a"))).map(({ type }) => type)).toContain("approval.requested");
  });

  test("drops the oldest unread parts and reports their number, as the ask itself does", async () => {
    const many = 5_000;
    const { host } = stage({
      script: [
        async (_, { onDelta }) => {
          for (let index = 0; index < many; index++)
            onDelta({ type: "toolCall", index, id: null, name: "x", arguments: "" });
          return says("done");
        },
      ],
    });
    const asked = host.ask("hi", { askId: "a" });
    await asked;
    for (const handle of [asked, host.thread().rejoin("a")]) {
      const parts = await partsOf(handle);
      const dropped = parts[0]?.type === "parts.dropped" ? parts[0].count : 0;
      // The starts of turn and step, the deltas of the calls, the text, and the ends of step and turn.
      expect(dropped + parts.length - 1).toBe(2 + many + 1 + 2);
      expect(parts.length).toBeLessThan(2_050);
      expect(parts.at(-1)).toEqual(ended);
    }
  });

  test("a rejoined ask that is aborted fails with the turn that was cancelled, as the ask itself does", async () => {
    const model = held();
    const { clock, inner } = stored();
    const store = overriding(inner, { append: async (...given) => inner.append(...given) });
    const { host } = stage({ clock, store, script: [model.step] });
    const first = errorOf(host.ask("hi", { askId: "a" }));
    await settle();
    model.show("one");
    const again = host.thread().rejoin("a");
    const second = errorOf(again);
    await settle();
    again.abort("enough");
    for (const error of [await first, await second])
      expect(error).toMatchObject({ name: "TurnCancelledError", summary: { turn: 1, text: "one" } });
  });

  test("is refused with a reason for an unknown ask or a foreign cursor", async () => {
    const { host } = stage({ idleMs: 10, script: [says("one"), says("two")] });
    const thread = host.thread();
    expect(await errorOf(host.thread("nowhere").rejoin("a"))).toBeInstanceOf(ThreadUnknownError);
    const first = host.ask("hi", { askId: "a" });
    await partsOf(first);
    await host.ask("hi", { askId: "b" });
    const error = await errorOf(thread.rejoin("c"));
    expect(error).toBeInstanceOf(AskRefusedError);
    expect(String(error)).toContain('ask "c": the thread does not know it, or it was made too long ago');
    expect(await errorOf(partsOf(thread.rejoin("c")))).toMatchObject({ refusal: { kind: "stale" } });
    for (const from of ["", "1.1.1", "1.x.1.1", "1.-1.1.1"])
      expect(await errorOf(partsOf(thread.rejoin("a", { from })))).toMatchObject({ refusal: { kind: "invalid" } });
    const elsewhere = thread.rejoin("b", { from: first.cursor ?? "none" });
    expect(String(await errorOf(partsOf(elsewhere)))).toContain(
      "from is a cursor of turn 1, and turn 2 answers the ask",
    );
    expect(await partsOf(elsewhere)).toEqual([]);
    // @ts-expect-error -- for those who write JavaScript
    expect(String(await errorOf(thread.rejoin("a", { after: "1" })))).toContain("after");
  });

  test("shows no text that was redacted or deleted since, even on a host that had shown it", async () => {
    const { host, another } = stage({ idleMs: 10, script: [says("secret")] });
    const other = another();
    await host.ask("hi", { askId: "a" });
    await host.thread().close();
    expect(JSON.stringify(await partsOf(other.host.thread().rejoin("a")))).toContain("secret");
    await other.host.thread().redact({ turn: 1 });
    for (const each of [host, other.host])
      expect(JSON.stringify(await partsOf(each.thread().rejoin("a")))).not.toContain("secret");
    await other.host.thread().delete();
    expect(await errorOf(partsOf(other.host.thread().rejoin("a")))).toBeInstanceOf(ThreadUnknownError);
  });
});

describe("text that this host has shown", () => {
  const failing: LlmOutcome = { type: "failed", failure: { kind: "bad_request", message: "no", retryable: false } };
  const retried: LlmOutcome = { type: "failed", failure: { kind: "network", message: "no", retryable: true } };
  const secret = ["secret", "secret"].map(says);

  /** Makes a thread of two turns, shown on this host, and another host on the same store. */
  const shown = async (options: Parameters<typeof stage>[0] = {}) => {
    const here = stage({
      idleMs: 10,
      machine: { overlap: { type: "queue", max: 9 } },
      script: [...secret, says("new")],
    });
    await here.host.ask("hi", { askId: "a" });
    await here.host.ask("hi", { askId: "b" });
    await here.clock.advance(1_000);
    return { ...here, there: here.another(options) };
  };

  test("of a failed attempt is not shown again after its redaction", async () => {
    const model = held();
    const { host, clock } = stage({ idleMs: 10, progressMs: 1, script: [model.step, says("fine")] });
    const asked = host.ask("hi", { askId: "a" });
    await settle();
    model.show("secret");
    await clock.advance(10);
    model.answer(retried);
    await clock.advance(60_000);
    expect(await asked).toMatchObject({ text: "fine" });
    expect(JSON.stringify(await partsOf(host.thread().rejoin("a")))).toContain("secret");
    const entries = await host.thread().exportJournal();
    const seqs = entries.filter(({ event }) => JSON.stringify(event).includes("secret")).map(({ seq }) => seq);
    await host.thread().redact({ seqs });
    expect(JSON.stringify(await partsOf(host.thread().rejoin("a")))).not.toContain("secret");
  });

  test("of a deleted thread is not shown in one that is imported under its id, even with its ask ids", async () => {
    const { host } = await shown();
    const other = stage({ script: [failing] });
    await errorOf(other.host.ask("hi", { askId: "a" }));
    await host.thread().delete();
    await host.importJournal(await other.host.thread().exportJournal());
    expect(JSON.stringify(await partsOf(host.thread().rejoin("a")).catch(() => []))).not.toContain("secret");
  });

  test.each<[how: string, there: readonly ScriptedStep[], asks: number, closes?: boolean]>([
    ["is created again here", [], 0],
    ["is created again there, and continues here", [says("1")], 1],
    ["fails there", [failing], 1],
    ["is open there", [held().step], 1],
    ["is open there in its second turn", [says("1"), held().step], 2],
    ["was open there and continues here", [held().step], 1, true],
  ])("of a thread that another host deleted is not shown in one of the same id that %s", async (...given) => {
    const [, script, asks, closes = false] = given;
    const { host, clock, there } = await shown({ script, idleMs: 10 });
    await there.host.thread().delete();
    for (let ask = 1; ask <= asks; ask++) void there.host.ask("ho", { askId: `there ${ask}` }).catch(() => {});
    await clock.advance(1_000);
    if (closes) await there.host.close();
    const handles = [1, 2].slice(0, asks).map((ask) => host.thread().rejoin(`there ${ask}`));
    const parts: AskPart[] = [];
    for (const handle of [...handles, host.ask("ho", { askId: "here" }), host.thread().rejoin("here")])
      void (async () => {
        for await (const part of handle) parts.push(part);
      })().catch(() => {});
    await clock.advance(1_000);
    expect(parts).not.toEqual([]);
    expect(JSON.stringify(parts)).not.toContain("secret");
  });
});

describe("an ask that is rejoined in another process", () => {
  const shared = { leaseTtlMs: 3_000, idleMs: 100, pollMs: 50 };

  test("is shown from its journal, after its end, if there is no log", async () => {
    const model = held();
    const { host, another, clock } = stage({ ...shared, script: [model.step] });
    host.ask("hi", { askId: "a" });
    await settle();
    model.show("hel");
    const reading = partsOf(another().host.thread().rejoin("a"));
    await clock.advance(500);
    model.answer(says("hello"));
    await clock.advance(500);
    expect((await reading).slice(-6)).toEqual([
      synthesised,
      started,
      step("step.started"),
      text("hello"),
      step("step.ended"),
      ended,
    ]);
  });

  test("shows the logged parts while it runs, and the rest from the journal, also to a repeated ask", async () => {
    const model = held();
    const { host, another, clock, store } = stage({ ...shared, partsMs: 200, script: [model.step] });
    const asked = host.ask("hi", { askId: "a" });
    const there = another().host.thread();
    const uninterrupted = partsOf(asked);
    await settle();
    model.show("one ");
    await clock.advance(300);
    const rejoined = there.rejoin("a");
    const repeated = partsOf(there.ask("hi", { askId: "a" }));
    const first = some(rejoined, 3);
    await clock.advance(100);
    expect(await first).toEqual([started, step("step.started"), text("one ")]);
    model.show("two ");
    const next = some(rejoined, 1);
    await clock.advance(300);
    expect(await next).toEqual([text("two ")]);
    model.show("three");
    model.answer(says("one two three"));
    const rest = partsOf(rejoined);
    await clock.advance(300);
    const shown = [started, step("step.started"), text("one "), text("two "), ...(await rest)];
    expect(joined(shown)).toEqual(joined(await uninterrupted));
    expect(joined(await repeated).filter(({ type }) => type.endsWith(".delta"))).toEqual([text("one two three")]);
    expect(await store.parts?.read("default", { at: clock.now(), after: null })).not.toEqual([]);
  });

  test("is shown logged parts of a turn that has ended for a limited time, and later only those of its journal", async () => {
    const model = held();
    const { clock, inner } = stored();
    let isFull = false;
    const { parts: log } = inner;
    if (log === undefined) throw new Error("no log");
    const store = overriding(inner, {
      parts: {
        ...log,
        append: (...given) => (isFull ? Promise.reject(new Error("full")) : log.append(...given)),
      },
    });
    const options = { ...shared, clock, store, partsMs: 200, keepPartsMs: 60_000, onObserverError: () => {} };
    const { host, another } = stage({ ...options, script: [model.step] });
    const asked = host.ask("hi", { askId: "a" });
    await settle();
    model.show("one ");
    await clock.advance(300);
    // The log has only the beginning of the turn.
    isFull = true;
    model.answer(says("one two"));
    await asked;
    await clock.advance(10_000);
    const there = another().host.thread();
    const whole = [started, step("step.started"), text("one two"), step("step.ended"), ended];
    expect(joined(await partsOf(there.rejoin("a")))).toEqual(whole);
    await clock.advance(59_000);
    expect(joined(await partsOf(there.rejoin("a")))).toEqual(whole);
    await clock.advance(1_000);
    expect(await partsOf(there.rejoin("a"))).toEqual([synthesised, ...whole]);
  });

  test("continues from a cursor for a limited time after its thread was closed there, and then starts over", async () => {
    for (const [waited, startsOver] of [
      [30_000, false],
      [70_000, true],
    ] as const) {
      const { host, another, clock } = stage({
        ...shared,
        keepPartsMs: 60_000,
        tools: [echo],
        script: [calls(["echo", { text: "x" }]), held().step],
      });
      host.ask("hi", { askId: "a" }).catch(() => {});
      await settle();
      const second = another({ script: [says("hello")] });
      const there = second.host.thread();
      const followed = there.rejoin("a");
      const reading = some(followed, 3);
      await clock.advance(1_000);
      expect((await reading).map(({ type }) => type)).toContain("turn.started");
      const from = followed.cursor;
      await there.close();
      await clock.advance(waited);
      await second.host.ask("hi", { threadId: "other" });
      const again = some(there.rejoin("a", { from }), 1);
      await clock.advance(1_000);
      expect((await again).map(({ type }) => type === "replay.started")).toEqual([startsOver]);
    }
  });

  test("shows that a step is void if its process died in it, and then the repeated step", async () => {
    const [first, second] = [held(), held()];
    const { clock, inner } = stored();
    const options = { ...shared, clock, partsMs: 200 };
    const { store, die } = mortal(inner);
    const dying = stage({ ...options, store, script: [first.step] });
    const other = stage({ ...options, store: inner, script: [second.step] });
    const asked = dying.host.ask("hi", { askId: "a" });
    await settle();
    first.show("half an ans");
    await some(asked, 3);
    await clock.advance(300);
    die();
    const from = asked.cursor ?? "none";
    const whole = partsOf(other.host.thread().rejoin("a"));
    const fromCursor = partsOf(other.host.thread().rejoin("a", { from }));
    await clock.advance(5_000);
    second.show("another answer");
    second.answer(says("another answer"));
    await clock.advance(500);
    const repeated: readonly AskPart[] = [
      { type: "thread.lost", turn: 1 },
      step("step.started"),
      text("another answer"),
      step("step.ended"),
      ended,
    ];
    const parts = (await whole).filter(({ type }) => !type.startsWith("wait."));
    expect(joined(parts)).toEqual([started, step("step.started"), text("half an ans"), ...repeated]);
    expect(joined(await fromCursor)).toEqual(repeated);
    // A later reader reads the same parts from the log.
    const later = stage({ ...options, store: inner });
    expect(joined(await partsOf(later.host.thread().rejoin("a", { from })))).toEqual(repeated);
  });

  test("does not fail if the log fails: it reports the error and shows the rest from the journal", async () => {
    const model = held();
    const { clock, inner } = stored();
    const reports: string[] = [];
    const store = overriding(inner, {
      parts: { append: () => Promise.reject(new Error("no room")), read: async () => [] },
    });
    const onObserverError = (error: unknown, where: string): void => void reports.push(`${where}: ${String(error)}`);
    const { host, another } = stage({ ...shared, clock, store, partsMs: 200, onObserverError, script: [model.step] });
    const asked = host.ask("hi", { askId: "a" });
    await settle();
    model.show("hel");
    await clock.advance(300);
    const reading = partsOf(another().host.thread().rejoin("a"));
    await clock.advance(100);
    model.answer(says("hello"));
    expect(await asked).toMatchObject({ text: "hello" });
    await clock.advance(500);
    expect(joined(await reading)).toContainEqual(text("hello"));
    expect(reports[0]).toContain("parts: Error: no room");
  });

  test("needs a store with a log for partsMs, and valid times", () => {
    const { parts: _, ...plain } = overriding(memoryStore({ clock: manualClock() }), {});
    expect(() => stage({ store: plain, partsMs: 100 })).toThrow(
      /partsMs is given, and this store keeps no log of parts/,
    );
    expect(() => stage({ partsMs: 0 })).toThrow(/partsMs must be .* \(got 0\)/);
    expect(() => stage({ keepPartsMs: -1 })).toThrow(/keepPartsMs must be .* \(got -1\)/);
  });
});

test("a host that is closed in the middle of a turn first writes what was shown of it to the log", async () => {
  const model = held();
  const { host, store, clock } = stage({ partsMs: 200, script: [model.step] });
  host.ask("hi", { askId: "a" }).catch(() => {});
  await settle();
  model.show("half an ans");
  await host.close();
  const logged = (after: number) => store.parts?.read("default", { at: clock.now() + after, after: null });
  const [batch] = (await logged(299_999)) ?? [];
  expect(batch).toMatchObject({ turn: 1, body: expect.stringContaining("half an ans") });
  // It is kept for five minutes by default.
  expect(await logged(300_000)).toEqual([]);
});

test("a turn that ends before its first batch of parts is due writes none to the log", async () => {
  const { host, store, clock } = stage({ partsMs: 200, script: [says("hello")] });
  await host.ask("hi", { askId: "a" });
  await clock.advance(1_000);
  expect(await store.parts?.read("default", { at: clock.now(), after: null })).toEqual([]);
  await host.close();
  expect(clock.sleepers).toBe(0);
});
