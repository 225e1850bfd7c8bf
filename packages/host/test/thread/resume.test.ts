import { describe, expect, test } from "vitest";
import { type AskHandle, awaitMany, type Host, memoryStore, ThreadHeldError, tool } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { calls, errorOf, held, manualClock, partsOf, says, settle, stage, type StageOptions } from "../stage.ts";

const queue = { overlap: { type: "queue", max: 8 } } as const;

const present = (handle: AskHandle | null): AskHandle => {
  if (handle === null) throw new Error("there is no handle");
  return handle;
};

/** A host that died with a turn open on each of some threads, and the stage of the next one. */
const afterCrash = async (threadIds: readonly string[], next: StageOptions = {}) => {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const { store, die } = mortal(inner);
  const never = () => new Promise<never>(() => {});
  const first = stage({
    clock,
    store,
    machine: queue,
    owner: "dead",
    leaseTtlMs: 9_000,
    script: Array(99).fill(never),
  });
  for (const threadId of threadIds) void first.host.ask("hi", { threadId, askId: `ask of ${threadId}` });
  await settle();
  die();
  const script = Array.from({ length: 99 }, (_, index) => says(`answer ${index + 1}`));
  return { ...stage({ clock, store: inner, machine: queue, leaseTtlMs: 9_000, script, ...next }), dead: first.host };
};

describe("an ask that waits for a dead host's lease", () => {
  test("says that it waits, and until when at most; and that it goes on", async () => {
    const { host, clock } = await afterCrash(["default"]);
    await clock.advance(1_000);
    const asked = host.ask("and then?", { askId: "b" });
    const parts = partsOf(asked);
    const shown: string[] = [];
    void (async () => {
      for await (const part of host.ask("and then?", { askId: "b" })) shown.push(part.type);
    })();
    await settle();
    expect(shown).toEqual(["wait.started"]);
    await clock.advance(9_000);
    expect((await asked).text).toBe("answer 2");
    const until = 1_000_000 + 1_000 + 9_000;
    expect((await parts).slice(0, 3)).toEqual([
      { type: "wait.started", for: "lease", until },
      { type: "wait.ended" },
      expect.objectContaining({ type: "signal" }),
    ]);
  });

  test("waits not at all where this host has the name of the dead one", async () => {
    const { host } = await afterCrash(["default"], { owner: "dead" });
    const { turn } = await host.thread().resume();
    expect((await present(turn)).text).toBe("answer 1");
  });

  test("says nothing where no host holds the thread", async () => {
    const { host } = stage({ script: [says("1")] });
    const parts = await partsOf(host.ask("hi"));
    expect(parts.filter(({ type }) => type.startsWith("wait."))).toEqual([]);
  });
});

describe("what was resumed", () => {
  test("can be awaited and iterated, and so can what waited behind it", async () => {
    const model = held();
    const first = stage({ machine: queue, script: [model.step] });
    void first.host.ask("one", { askId: "a" });
    void first.host.ask("two", { askId: "b" });
    await settle();
    await first.host.close();
    const second = first.another({ script: [says("1"), says("2")] });
    const { threadId, turn, queued } = await second.host.thread().resume();
    expect(threadId).toBe("default");
    const parts = (await partsOf(present(turn))).map(({ type }) => type);
    expect(parts).toEqual(["step.started", "text.delta", "step.ended", "turn.ended"]);
    expect(await turn).toMatchObject({ askId: "a", turn: 1, text: "1" });
    await first.clock.advance(1);
    expect(await Promise.all(queued)).toMatchObject([{ askId: "b", turn: 2, text: "2" }]);
    expect(await second.host.thread().resume()).toEqual({ threadId: "default", turn: null, queued: [] });
  });

  test("can be aborted", async () => {
    const first = stage({ script: [held().step] });
    void first.host.ask("one", { askId: "a" });
    await settle();
    await first.host.close();
    const second = first.another({ script: [held().step] });
    const { turn } = await second.host.thread().resume();
    present(turn).abort("enough");
    expect(await errorOf(present(turn))).toMatchObject({ name: "TurnCancelledError" });
  });

  const dangerous = tool({
    name: "dangerous",
    description: "",
    input: { jsonSchema: { type: "object" } },
    approval: "always",
    run: () => "done",
  });

  test("by an approval can be awaited, wherever the turn was asked", async () => {
    const first = stage({ tools: [dangerous], idleMs: 1_000, script: [calls(["dangerous", {}])] });
    const asked = errorOf(first.host.ask("go", { askId: "a" }));
    await settle();
    await first.host.close();
    expect(await asked).toMatchObject({ name: "ThreadClosedError" });
    const second = first.another({ script: [says("did it")] });
    const thread = second.host.thread();
    const [request] = await thread.approvals();
    const { turn, queued } = await thread.approve(request?.id ?? "");
    const types = (await partsOf(present(turn))).map(({ type }) => type);
    expect(types).toEqual([
      "approval.requested",
      "toolResult",
      "step.ended",
      "step.started",
      "text.delta",
      "step.ended",
      "turn.ended",
    ]);
    expect(await turn).toMatchObject({ askId: "a", text: "did it" });
    expect(queued).toEqual([]);
  });

  test("by a denial, or an inbox item for the host that holds the thread, as well", async () => {
    const first = stage({ tools: [dangerous], script: [calls(["dangerous", {}]), says("I did not")] });
    const asked = first.host.ask("go", { askId: "a" });
    await settle();
    const second = first.another({ script: [] });
    const [request] = await second.host.thread().approvals();
    const denying = second.host.thread().deny(request?.id ?? "");
    await first.clock.advance(1_000);
    const { turn } = await denying;
    await first.clock.advance(1_000);
    expect(await turn).toMatchObject({ askId: "a", text: "I did not" });
    expect((await asked).text).toBe("I did not");
  });

  test("keeps no thread open while it is not awaited, and is found again when it is", async () => {
    const script = [calls(["dangerous", {}], ["dangerous", { again: true }])];
    const first = stage({ tools: [dangerous], idleMs: 1_000, script });
    const asked = errorOf(first.host.ask("go", { askId: "a" }));
    await settle();
    await first.host.close();
    await asked;
    const second = first.another({ script: [says("did both")] });
    const thread = second.host.thread();
    const [one, other] = await thread.approvals();
    const { turn } = await thread.approve(one?.id ?? "");
    await first.clock.advance(2_000);
    // The other approval may take days.
    expect(first.clock.sleepers).toBe(0);
    const result = present(turn).then(({ text }) => text);
    await settle();
    await second.host.thread().approve(other?.id ?? "");
    expect(await result).toBe("did both");
  });
});

describe("resumeAll", () => {
  test("takes up each thread with something outstanding when its dead holder's lease has run out, and is idle about others", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const { host, clock, model } = await afterCrash(names, { maxActive: 2 });
    await host.thread("quiet").append({ role: "user", content: "nothing to do" });
    const all = host.resumeAll();
    await settle();
    expect(model.calls).toEqual([]);
    await clock.advance(11_000);
    const { resumed, left } = await all;
    expect(left).toEqual([]);
    expect(resumed.map(({ threadId }) => threadId).toSorted()).toEqual(names);
    const results = await awaitMany(resumed.map(({ turn }) => present(turn)));
    const byThread = new Map(results.map((result) => [result.threadId, result]));
    for (const name of names) expect(byThread.get(name)).toMatchObject({ type: "result", askId: `ask of ${name}` });
    expect(await host.resumeAll()).toEqual({ resumed: [], left: [] });
    expect(model.calls).toHaveLength(5);
  });

  test("goes by what is outstanding when another host lets go, not by what was when it first looked", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const { store, die } = mortal(inner);
    const gate = Promise.withResolvers<void>();
    const first = stage({
      clock,
      store,
      machine: queue,
      owner: "first",
      leaseTtlMs: 9_000,
      script: Array.from({ length: 9 }, () => async ({ turn }: { readonly turn: number }) => {
        await (turn === 1 ? gate.promise : new Promise<never>(() => {}));
        return says("done");
      }),
    });
    const [ended, goesOn] = [
      first.host.ask("hi", { threadId: "ended" }),
      first.host.ask("hi", { threadId: "goes on", askId: "first" }),
    ];
    await settle();
    const second = stage({ clock, store: inner, machine: queue, leaseTtlMs: 9_000, script: [says("2"), says("3")] });
    const all = second.host.resumeAll();
    await settle();
    gate.resolve();
    await Promise.all([ended, goesOn]);
    void first.host.ask("and then?", { threadId: "goes on", askId: "second" });
    void first.host.ask("and last?", { threadId: "goes on", askId: "third" });
    await settle();
    die();
    await clock.advance(11_000);
    const { resumed, left } = await all;
    expect(left).toEqual([]);
    const byThread = new Map(resumed.map((each) => [each.threadId, each]));
    expect((await present(byThread.get("ended")?.turn ?? null)).text).toBe("done");
    const { turn, queued = [] } = byThread.get("goes on") ?? {};
    expect([turn, ...queued].map((handle) => handle?.askId)).toEqual(["second", "third"]);
    expect((await Promise.all([turn, ...queued])).map((result) => result?.text)).toEqual(["2", "3"]);
  });

  test("works on maxActive threads at a time", async () => {
    let now = 0;
    let most = 0;
    const step = async () => {
      most = Math.max(most, ++now);
      await settle();
      now--;
      return says("done");
    };
    const names = Array.from({ length: 40 }, (_, index) => `t${index}`);
    const { host } = await afterCrash(names, { owner: "dead", maxActive: 3, script: Array(40).fill(step) });
    const { resumed } = await host.resumeAll();
    await awaitMany(resumed.map(({ turn }) => present(turn)));
    expect([resumed.length, most]).toEqual([40, 3]);
  });

  test("says what it could not take, and why", async () => {
    const names = ["held", "odd", "sound"];
    const { host, store, clock } = await afterCrash(names);
    await clock.advance(10_000);
    await store.acquire("held", "somebody alive", 1_000_000);
    const broken = overriding(store, {
      read: async (threadId, from) => (threadId === "odd" ? [{ seq: "?" }] : store.read(threadId, from)),
    });
    const second = stage({ clock, store: broken, machine: queue, script: [says("done")] });
    const { resumed, left } = await second.host.resumeAll({ waitMs: 0 });
    expect(resumed.map(({ threadId }) => threadId)).toEqual(["sound"]);
    const inOrder = left.toSorted((one, other) => one.threadId.localeCompare(other.threadId));
    expect(inOrder).toMatchObject([
      { threadId: "held", error: { name: "ThreadHeldError" } },
      { threadId: "odd", error: { name: "JournalUnreadableError" } },
    ]);
    expect(inOrder[0]?.error).toBeInstanceOf(ThreadHeldError);
    await host.close();
  });

  test("looks also at threads that are named, whatever the other options say", async () => {
    const { host, clock } = await afterCrash(["one", "other"]);
    await clock.advance(11_000);
    const newer = { updated: { from: clock.now() }, waitMs: 0 };
    expect(await host.resumeAll(newer)).toEqual({ resumed: [], left: [] });
    const { resumed } = await host.resumeAll({ ...newer, also: ["other", "other"] });
    expect(resumed.map(({ threadId }) => threadId)).toEqual(["other"]);
    expect(await present(resumed[0]?.turn ?? null)).toMatchObject({ askId: "ask of other" });
    await expect(host.resumeAll({ also: [""] })).rejects.toThrow("also must be a list of thread ids");
  });

  test("takes up what only lies in an inbox, and what is asked for by metadata or time", async () => {
    const { host, store, clock } = stage({ script: [says("1"), says("2")] });
    await host.thread("a").start({ metadata: { kind: "chat" } });
    await host.thread("b").start({ metadata: { kind: "mail" } });
    await host.close();
    const ask = { type: "ask.received", at: 1, askId: "left", input: "hi" } as const;
    for (const id of ["a", "b"]) await store.inbox?.post(id, { id: "letter", event: ask });
    const second: Host = stage({ clock, store, script: [says("1"), says("2")] }).host;
    const { resumed } = await second.resumeAll({ metadata: { kind: "mail" } });
    expect(resumed.map(({ threadId }) => threadId)).toEqual(["b"]);
    await settle();
    expect((await second.thread("b").asked("left"))?.status).toBe("completed");
    expect(await second.thread("a").asked("left")).toBeNull();
  });

  test("refuses options that there are not", async () => {
    const { host } = stage();
    // JavaScript knows no types.
    expect(await errorOf(host.resumeAll({ limit: 1 } as object))).toMatchObject({
      message: expect.stringContaining("limit"),
    });
    expect(await errorOf(host.resumeAll({ waitMs: Number.NaN }))).toMatchObject({
      message: expect.stringContaining("waitMs is NaN"),
    });
  });
});
