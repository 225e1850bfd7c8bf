import { AskRefusedError, type AskHandle, type AskPart, memoryStore, ThreadUnknownError } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { joined } from "../joined.ts";
import { mortal } from "../mortal-store.ts";
import { calls, echo, errorOf, held, manualClock, partsOf, says, settle, stage } from "../stage.ts";

const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };
const text = (given: string, step = 1): AskPart => ({ type: "text.delta", turn: 1, step, attempt: 1, text: given });
const step = (type: "step.started" | "step.ended", number = 1): AskPart => ({ type, turn: 1, step: number });
const synthesised: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: true };

/** Reads some parts, and gives them with the cursor behind them. */
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

describe("in the process that answers, an ask that is rejoined", () => {
  test("shows what was shown already, joined, and then what comes, to as many as rejoin it", async () => {
    const model = held();
    const { host } = stage({ tools: [echo], script: [calls(["echo", { text: "ping" }]), model.step] });
    const asked = host.ask("hi", { askId: "a" });
    const uninterrupted = partsOf(asked);
    await settle();
    model.show("po");
    await settle();
    const thread = host.thread();
    const first = partsOf(thread.rejoin("a"));
    await settle();
    model.show("n");
    model.show("g");
    const second = partsOf(thread.rejoin("a"));
    await settle();
    model.answer(says("pong"));
    expect(joined(await first)).toEqual(joined(await uninterrupted));
    expect(await second).toEqual(joined(await uninterrupted));
    expect(await second).toContainEqual(text("pong", 2));
    expect(await thread.rejoin("a")).toEqual(await asked);
  });

  test("goes on behind the part that was read last, also in the middle of a delta", async () => {
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

  test("is shown for a bounded time after its end, without a lease, and by the journal later", async () => {
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

  test("lets older parts go, and says how many", async () => {
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
    await host.ask("hi", { askId: "a" });
    const parts = await partsOf(host.thread().rejoin("a"));
    const dropped = parts[0]?.type === "parts.dropped" ? parts[0].count : 0;
    // The turn and the step, what is written of the calls, the text, and the ends.
    expect(dropped + parts.length - 1).toBe(2 + many + 1 + 2);
    expect(parts.length).toBeLessThan(2_050);
    expect(parts.at(-1)).toEqual(ended);
  });

  test("is refused in words where there is none, or where the cursor is none of its own", async () => {
    const { host } = stage({ idleMs: 10, script: [says("one"), says("two")] });
    const thread = host.thread();
    expect(await errorOf(host.thread("nowhere").rejoin("a"))).toBeInstanceOf(ThreadUnknownError);
    const first = host.ask("hi", { askId: "a" });
    await partsOf(first);
    await host.ask("hi", { askId: "b" });
    expect(await errorOf(thread.rejoin("c"))).toBeInstanceOf(AskRefusedError);
    expect(await errorOf(partsOf(thread.rejoin("c")))).toMatchObject({ refusal: { kind: "stale" } });
    for (const from of ["", "1.1.1", "1.x.1.1", "1.-1.1.1"])
      expect(await errorOf(partsOf(thread.rejoin("a", { from })))).toMatchObject({ refusal: { kind: "invalid" } });
    const elsewhere = thread.rejoin("b", { from: first.cursor ?? "none" });
    expect(String(await errorOf(partsOf(elsewhere)))).toContain(
      "from is a cursor of turn 1, and turn 2 answers the ask",
    );
    // @ts-expect-error -- for those who write JavaScript
    expect(String(await errorOf(thread.rejoin("a", { after: "1" })))).toContain("after");
  });

  test("shows no words that were deleted or redacted since, here and in a host that had them", async () => {
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

describe("in another process, an ask that is rejoined", () => {
  const shared = { leaseTtlMs: 3_000, idleMs: 100, pollMs: 50 };

  test("is shown by its journal when it ends, where no log is kept", async () => {
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

  test("shows what the log has while it goes on, as does an ask there, and the rest by the journal", async () => {
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

  test("goes on behind a cursor of the first one", async () => {
    const model = held();
    const { host, another, clock } = stage({ ...shared, partsMs: 200, script: [model.step] });
    const asked = host.ask("hi", { askId: "a" });
    await settle();
    model.show("one ");
    await some(asked, 3);
    await clock.advance(300);
    model.show("two");
    const rest = partsOf(
      another()
        .host.thread()
        .rejoin("a", { from: asked.cursor ?? "none" }),
    );
    await clock.advance(300);
    model.answer(says("one two"));
    await clock.advance(300);
    expect(joined(await rest)).toEqual([text("two"), step("step.ended"), ended]);
  });

  test("shows that a step is void when its process died in it, and then how it is made anew", async () => {
    const [first, second] = [held(), held()];
    const clock = manualClock();
    const inner = memoryStore({ clock });
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
    const behind = partsOf(other.host.thread().rejoin("a", { from }));
    await clock.advance(5_000);
    second.show("another answer");
    second.answer(says("another answer"));
    await clock.advance(500);
    const anew: readonly AskPart[] = [
      { type: "thread.lost", turn: 1 },
      step("step.started"),
      text("another answer"),
      step("step.ended"),
      ended,
    ];
    const parts = (await whole).filter(({ type }) => !type.startsWith("wait."));
    expect(joined(parts)).toEqual([started, step("step.started"), text("half an ans"), ...anew]);
    expect(joined(await behind)).toEqual(anew);
    // A later reader gets the same from the log.
    const later = stage({ ...options, store: inner });
    expect(joined(await partsOf(later.host.thread().rejoin("a", { from })))).toEqual(anew);
  });

  test("costs its user nothing where the log fails, which is reported, and shows the rest by the journal", async () => {
    const model = held();
    const clock = manualClock();
    const inner = memoryStore({ clock });
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

  test("needs a store that has a log", () => {
    const { parts: _, ...plain } = overriding(memoryStore({ clock: manualClock() }), {});
    expect(() => stage({ store: plain, partsMs: 100 })).toThrow(
      /partsMs is given, and this store keeps no log of parts/,
    );
    expect(() => stage({ partsMs: 0 })).toThrow(/partsMs must be .* \(got 0\)/);
    expect(() => stage({ keepPartsMs: -1 })).toThrow(/keepPartsMs must be .* \(got -1\)/);
  });
});

test("a turn that is over before its first batch is due costs the store nothing", async () => {
  const { host, store, clock } = stage({ partsMs: 200, script: [says("hello")] });
  await host.ask("hi", { askId: "a" });
  await clock.advance(1_000);
  expect(await store.parts?.read("default", { at: clock.now(), after: null })).toEqual([]);
  await host.close();
  expect(clock.sleepers).toBe(0);
});
