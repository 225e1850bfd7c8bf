import { memoryStore, type Store } from "@colloquy/host";
import { toArray, turnNumbered, turnsOf, messagesOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { beforeEach, describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { calls, echo, manualClock, says, stage, type Stage, type StageOptions, plain, written } from "../stage.ts";

const clock = manualClock();
let kept: Store;
/** The fetched chunks of a snapshot; null means all. */
let fetched: (string | null)[];
let readsFrom: number[];
let errors: string[];
/** A hook that runs when something is to be fetched from the store. */
let onFetch: (chunk: string | null) => void;
let isThere: (chunk: string) => boolean;

beforeEach(() => {
  kept = memoryStore({ clock });
  [fetched, readsFrom, errors] = [[], [], []];
  onFetch = () => {};
  isThere = () => true;
});

/** Makes a store behind a network, whose chunks must be fetched. */
const far = (): Store =>
  overriding(kept, {
    read: (threadId, fromSeq = 0) => {
      readsFrom.push(fromSeq);
      return kept.read(threadId, fromSeq);
    },
    readSnapshot: async (threadId) => {
      const snapshot = await kept.readSnapshot(threadId);
      const had = new Set<string | null>();
      return (
        snapshot && {
          head: snapshot.head,
          chunk: (id) => ((had.has(id) || had.has(null)) && isThere(id) ? snapshot.chunk(id) : undefined),
          fetch: async (chunk) => {
            fetched.push(chunk);
            onFetch(chunk);
            await Promise.resolve();
            had.add(chunk);
          },
        }
      );
    },
  });

const on = (options: StageOptions = {}): Stage =>
  stage({
    store: far(),
    clock,
    snapshotEvery: 8,
    machine: { policy: lastTurns(2) },
    onObserverError: (error, where) => errors.push(`${where}: ${error instanceof Error ? error.name : String(error)}`),
    ...options,
  });

/** Stores a thread with `turns` turns, and releases it. */
const long = async (turns: number): Promise<void> => {
  const { host } = on();
  const thread = host.thread();
  await thread.start();
  for (let turn = 1; turn <= turns; turn++) await thread.addTurn(written(turn));
  await host.close();
  [fetched, readsFrom] = [[], []];
};

describe("a snapshot whose chunks have to be fetched", () => {
  test("is read only as far as an ask needs, with the journal after it", async () => {
    await long(1200);
    const { host, model } = on({ script: [says("ok"), says("again")] });
    expect(await host.ask("go")).toMatchObject({ text: "ok", turn: 1201 });
    expect(model.calls[0]?.messages).toHaveLength(5);
    // An ask is searched in the newest 256 of 1,200 turns.
    expect(fetched.length).toBeGreaterThan(0);
    expect(fetched.length).toBeLessThan(12);
    expect(new Set(fetched).size).toBe(fetched.length);
    expect(fetched).not.toContain(null);
    const before = fetched.length;
    await host.ask("go on");
    expect(fetched).toHaveLength(before);
    await host.close();
    expect(fetched).toHaveLength(before);
    expect(readsFrom).toEqual([expect.toSatisfy((seq) => seq > 1190)]);
    expect(errors).toEqual([]);
  });

  test("is fetched whole if many chunks are missing", async () => {
    await long(1200);
    const { host, model } = on({ script: [says("ok")], machine: {} });
    await host.ask("go");
    expect(model.calls[0]?.messages).toHaveLength(2401);
    expect(fetched).toHaveLength(16);
    expect(fetched.indexOf(null)).toBe(15);
    expect(errors).toEqual([]);
  });

  test("is fetched at once for a returned state, and on demand by small reads", async () => {
    await long(400);
    const { host } = on();
    const thread = host.thread();
    const state = await thread.state();
    expect(fetched).toEqual([null]);
    expect(state === null ? [] : turnsOf(state)).toHaveLength(400);
    fetched = [];
    expect(await thread.asked("nobody's")).toBeNull();
    expect(fetched.length).toBeLessThan(13);
    expect(fetched).not.toContain(null);
    fetched = [];
    expect((await thread.figures())?.turns.total).toBe(400);
    expect((await thread.explain())?.units.length).toBeGreaterThan(0);
    expect(await thread.approvals()).toEqual([]);
    fetched = [];
    const seen = await thread.look((present) => {
      const third = turnNumbered(present, 3);
      return third === undefined ? [] : toArray(third.messages).map(({ id }) => id);
    });
    expect(seen).toEqual(["3.0", "3.1"]);
    expect(fetched).not.toContain(null);
    expect(fetched.length).toBeLessThan(4);
    expect(errors).toEqual([]);
    expect(Math.min(...readsFrom)).toBeGreaterThan(390);
    expect(await host.thread("nobody's").look(() => 1)).toBeNull();
  });

  test("is fetched once for a thread that is in use", async () => {
    await long(400);
    const { host } = on({ script: [says("ok")] });
    const thread = host.thread();
    await host.ask("go");
    const state = await thread.state();
    expect(state === null ? [] : turnsOf(state)).toHaveLength(401);
    await thread.state();
    expect(fetched.filter((chunk) => chunk === null)).toHaveLength(1);
    expect(readsFrom).toHaveLength(1);
  });

  test("is there as a whole for a tool, which runs once", async () => {
    await long(400);
    let runs = 0;
    const look = plain("look", (_, { state }) => {
      runs += 1;
      return turnsOf(state()).length;
    });
    const { host, model } = on({ tools: [look], script: [calls(["look", {}]), says("done")] });
    await host.ask("go");
    expect(runs).toBe(1);
    expect(model.calls[1]?.messages.at(-1)?.parts).toMatchObject([
      { outcome: "completed", content: [{ text: "400" }] },
    ]);
    expect(errors).toEqual([]);
  });

  test("gives undone turns whole, and the outcome of an ask of long ago", async () => {
    const first = on({ script: [says("old")] });
    await first.host.ask("go", { askId: "old" });
    const thread = first.host.thread();
    for (let turn = 0; turn < 200; turn++)
      await thread.addTurn(
        Array.from({ length: 40 }, (_, index) => ({
          role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
          content: `message ${index}`,
        })),
      );
    await first.host.close();
    const { host } = on();
    const undone = await host.thread().undo(120);
    expect(undone.map(({ messages }) => toArray(messages).length)).toEqual(Array(120).fill(40));
    expect((await host.ask("go", { askId: "old" })).text).toBe("old");
    expect(errors).toEqual([]);
  });

  test("has its seed, and the open turn that waits for a person", async () => {
    const seed = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `seed ${index}` }));
    const options: StageOptions = {
      tools: [echo, { ...echo, declaration: { ...echo.declaration, name: "asks", approval: "always" } }],
      thread: { seed },
      machine: {},
      snapshotEvery: 4,
    };
    const round = calls(...Array.from({ length: 40 }, () => ["echo", { text: "x" }] as const));
    const first = on({ ...options, script: [round, calls(["asks", { text: "x" }])] });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await clock.advance(0);
    await first.host.close();
    [fetched, readsFrom] = [[], []];
    const { host, model } = on({ ...options, script: [says("done")] });
    const [request] = await host.thread().approvals();
    expect(readsFrom[0]).toBeGreaterThan(40);
    await host.thread().approve(request?.id ?? "");
    expect((await host.ask("go", { askId: "a" })).messages).toHaveLength(45);
    expect(model.calls[0]?.messages).toHaveLength(144);
    expect(errors).toEqual([]);
  });

  test("of which a chunk is gone is damaged: the journal has it", async () => {
    await long(400);
    isThere = (chunk) => !chunk.startsWith("turns352.");
    const { host } = on({ script: [says("ok")] });
    expect(await host.ask("go")).toMatchObject({ turn: 401 });
    expect(readsFrom.slice(1)).toEqual([0]);
    expect(errors).toEqual(["snapshot: SnapshotDamagedError"]);
  });

  test("that can't be fetched is passed over: the journal has it", async () => {
    await long(400);
    onFetch = () => {
      throw new Error("connection lost");
    };
    const { host } = on({ script: [says("ok")] });
    const state = await host.thread().state();
    expect(state === null ? [] : turnsOf(state)).toHaveLength(400);
    expect(await host.ask("go")).toMatchObject({ turn: 401 });
    expect(errors).toEqual(Array(2).fill("snapshot: SnapshotDamagedError"));
  });
});

const damaged = (inner: Store, reads: () => void): Store =>
  overriding(inner, {
    readSnapshot: async (threadId) => {
      const kept = await inner.readSnapshot(threadId);
      return (
        kept && {
          ...kept,
          chunk: () => {
            reads();
            throw new Error("SQLITE_IOERR: disk I/O error");
          },
        }
      );
    },
  });

test("chunks that the store throws for cost no turn and no look: the journal has them", async () => {
  await long(100);
  let read = 0;
  const store = damaged(kept, () => read++);
  const another = () => on({ store, machine: {}, script: [says("ok"), says("ok")] }).host;
  const looking = another().thread();
  const state = await looking.state();
  expect(state === null ? 0 : messagesOf(state).length).toBe(200);
  expect(await looking.explain()).not.toBeNull();
  expect(await looking.asks()).toEqual([]);
  const using = another();
  expect(await using.ask("go", { askId: "go" })).toMatchObject({ text: "ok", turn: 101 });
  await using.close();
  const moving = another();
  await moving.thread().moveHead(3);
  expect((await moving.thread().undo(2)).map(({ number }) => number)).toEqual([3, 2]);
  expect(await moving.ask("again", { askId: "again" })).toMatchObject({ turn: 102 });
  await moving.close();
  expect(read).toBeGreaterThan(0);
  expect(new Set(errors.map((error) => error.split(":")[0]))).toEqual(new Set(["snapshot"]));
});
