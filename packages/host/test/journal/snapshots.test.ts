import { type State, turnsOf } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import { lastTurns } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import type { Store } from "@colloquy/host";
import type { StoredSnapshot } from "@colloquy/host/store";
import { overriding } from "../gated-store.ts";
import {
  calls,
  echo,
  type ManualClock,
  says,
  settle,
  stage,
  type Stage,
  type StageOptions,
  stored,
  approveFirst,
  plain,
  written,
} from "../stage.ts";

/** A store that records reads of journals and uses of snapshots, and can falsify snapshots. */
interface WatchedStore {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly readsFrom: number[];
  readonly saved: number[];
  snapshot: (kept: StoredSnapshot | null) => StoredSnapshot | null;
  save: () => void;
}

const watched = (): WatchedStore => {
  const { clock, inner } = stored();
  const watched: WatchedStore = {
    clock,
    readsFrom: [],
    saved: [],
    snapshot: (kept) => kept,
    save: () => {},
    store: overriding(inner, {
      read: (threadId, fromSeq = 0) => {
        watched.readsFrom.push(fromSeq);
        return inner.read(threadId, fromSeq);
      },
      readSnapshot: async (threadId) => watched.snapshot(await inner.readSnapshot(threadId)),
      saveSnapshot: async (lease, snapshot) => {
        watched.save();
        await inner.saveSnapshot(lease, snapshot);
        watched.saved.push(snapshot.seq);
      },
    }),
  };
  return watched;
};

const on = ({ store, clock }: WatchedStore, options: StageOptions = {}): Stage =>
  stage({ store, clock, snapshotEvery: 8, ...options });

/** Removes some chunks of a snapshot. */
const damagedIn = (snapshot: StoredSnapshot | null, name: string): StoredSnapshot | null =>
  snapshot && { ...snapshot, chunk: (id) => (id.startsWith(name) ? undefined : snapshot.chunk(id)) };

/** Stores a thread with `turns` turns, and releases it. */
const long = async (kept: WatchedStore, turns: number, options: StageOptions = {}): Promise<void> => {
  const { host } = on(kept, options);
  const thread = host.thread();
  await thread.start();
  for (let turn = 1; turn <= turns; turn++) await thread.addTurn(written(turn));
  await host.close();
};

const foldedOf = async (store: Store): Promise<State> => {
  const entries = decodeJournal(await store.read("default"));
  const state = Either.isRight(entries) ? fold(entries.right) : null;
  if (state === null || Either.isLeft(state)) throw new Error("the journal can't be read");
  return state.right;
};

describe("a snapshot", () => {
  test("is saved between turns after enough new entries, and opening reads the entries after it", async () => {
    const kept = watched();
    const { host } = on(kept, { tools: [echo], script: Array(20).fill(says("ok")) });
    const saved: (readonly number[])[] = [];
    for (let turn = 1; turn <= 6; turn++) {
      await host.ask("go");
      saved.push([...kept.saved]);
    }
    expect(saved).toEqual([[], [], [], [8], [8], [8]]);
    await host.close();
    expect(kept.saved).toEqual([8, 12]);
    kept.readsFrom.length = 0;
    const next = on(kept, { script: [says("next")] });
    expect(await next.host.ask("go on", { askId: "next" })).toMatchObject({ text: "next", turn: 7 });
    expect(kept.readsFrom).toEqual([12]);
    expect(await next.host.thread().state()).toEqual(await foldedOf(kept.store));
  });

  test("the host saves a snapshot after exactly as many new entries as were asked for, and at the end after more than a quarter of them", async () => {
    const kept = watched();
    const add = async (turns: number): Promise<void> => {
      const { host } = on(kept);
      for (let turn = 1; turn <= turns; turn++) await host.thread().addTurn(written(turn));
      await settle();
      await host.close();
    };
    await long(kept, 6);
    expect(kept.saved).toEqual([6]);
    await add(2);
    expect(kept.saved).toEqual([6]);
    await add(1);
    expect(kept.saved).toEqual([6, 9]);
    const { host } = on(kept);
    for (let turn = 1; turn <= 8; turn++) {
      expect(kept.saved).toEqual([6, 9]);
      await host.thread().addTurn(written(turn));
      await settle();
    }
    expect(kept.saved).toEqual([6, 9, 17]);
  });

  test("is not taken in the middle of a turn, nor of too little when a thread is let go", async () => {
    const kept = watched();
    const round = calls(...Array.from({ length: 20 }, () => ["echo", { text: "x" }] as const));
    const { host } = on(kept, { tools: [echo], script: [round, says("ok"), says("ok")] });
    await host.ask("go");
    expect(kept.saved).toEqual([23]);
    await host.ask("go");
    await host.close();
    expect(kept.saved).toEqual([23]);
  });

  test("gives a state that a journal would give, when it is looked at or written down", async () => {
    const kept = watched();
    await long(kept, 100);
    const { host } = on(kept, { script: [says("next")] });
    const whole = await foldedOf(kept.store);
    kept.readsFrom.length = 0;
    expect(await host.thread().state()).toEqual(whole);
    expect(JSON.parse(JSON.stringify(await host.thread().state()))).toEqual(JSON.parse(JSON.stringify(whole)));
    expect(Math.min(...kept.readsFrom)).toBeGreaterThan(90);
    await host.ask("go on");
    expect(await host.thread().state()).toEqual(await foldedOf(kept.store));
  });

  test("is neither read nor saved if it is switched off", async () => {
    const kept = watched();
    await long(kept, 40, { snapshotEvery: 0 });
    expect(kept.saved).toEqual([]);
    await long(watched(), 40);
    kept.snapshot = () => {
      throw new Error("read all the same");
    };
    const errors: unknown[] = [];
    const { host } = on(kept, { snapshotEvery: 0, onObserverError: (error) => errors.push(error) });
    expect((await host.thread().state())?.context.seq).toBe(40);
    expect(errors).toEqual([]);
  });

  test("that can't be saved is reported, and costs nothing", async () => {
    const kept = watched();
    kept.save = () => {
      throw new Error("disk full");
    };
    const errors: string[] = [];
    const { host } = on(kept, {
      script: Array(20).fill(says("ok")),
      onObserverError: (error, where) => errors.push(`${where}: ${String(error)}`),
    });
    for (let turn = 1; turn <= 9; turn++) expect((await host.ask("go")).text).toBe("ok");
    expect(errors).toEqual(Array(2).fill("snapshot: Error: disk full"));
    kept.save = () => {};
    for (let turn = 1; turn <= 4; turn++) await host.ask("go");
    expect(kept.saved).toEqual([24]);
    await host.close();
  });

  test("of an open turn, which waits for somebody, is of use too", async () => {
    const kept = watched();
    const options: StageOptions = {
      tools: [{ ...echo, declaration: { ...echo.declaration, approval: "always" } }],
      script: [calls(["echo", { text: "said" }])],
    };
    const first = on(kept, { ...options, snapshotEvery: 4 });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await first.clock.advance(0);
    await first.host.close();
    expect(kept.saved).toEqual([3]);
    kept.readsFrom.length = 0;
    const next = on(kept, { ...options, script: [says("done")] });
    await approveFirst(next.host.thread());
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("done");
    // For the requests, for the approved tool, and to open the thread.
    expect(kept.readsFrom).toEqual([3, 3, 3]);
  });
});

describe("a snapshot that is of no use", () => {
  const other = (head: (text: string) => string) => (snapshot: StoredSnapshot | null) =>
    snapshot === null ? null : { ...snapshot, head: head(snapshot.head) };

  test.each<[string, WatchedStore["snapshot"]]>([
    ["can't be read", other(() => "{")],
    ["is cut off", other((text) => text.slice(0, -10))],
    ["was changed", other((text) => text.replace("question", "Question"))],
    ["has a newer format", other((text) => text.replace(/"snapshot":\d+/, '"snapshot":99'))],
    [
      "can't be had",
      () => {
        throw new Error("io");
      },
    ],
  ])("because it %s is reported, the journal is read, and the next one takes its place", async (_, snapshot) => {
    const kept = watched();
    await long(kept, 20);
    const before = kept.saved.length;
    kept.snapshot = snapshot;
    kept.readsFrom.length = 0;
    const errors: string[] = [];
    const { host } = on(kept, {
      script: [says("ok")],
      onObserverError: (_error, where) => errors.push(where),
    });
    expect(await host.ask("go")).toMatchObject({ text: "ok", turn: 21 });
    expect(errors).toEqual(["snapshot"]);
    expect(kept.readsFrom).toEqual([0]);
    await host.close();
    expect(kept.saved.slice(before)).toEqual([22]);
    kept.snapshot = (good) => good;
    kept.readsFrom.length = 0;
    expect((await on(kept).host.thread().state())?.context.seq).toBe(22);
    expect(kept.readsFrom).toEqual([22]);
  });

  test("because the journal was put back to an earlier day is not believed", async () => {
    const kept = watched();
    await long(kept, 20);
    const shorter = overriding(kept.store, {
      read: async (threadId, fromSeq = 0) =>
        (await kept.store.read(threadId)).filter((_, seq) => seq >= fromSeq && seq < 10),
    });
    const errors: unknown[] = [];
    const { host } = on({ ...kept, store: shorter }, { onObserverError: (error) => errors.push(String(error)) });
    expect((await host.thread().state())?.context.seq).toBe(9);
    expect(errors).toEqual([expect.stringContaining("entry 20 is not in the journal as it was")]);
  });

  test("because the journal is another one from there on is not believed", async () => {
    const kept = watched();
    await long(kept, 20);
    const changed = overriding(kept.store, {
      read: async (threadId, fromSeq = 0) =>
        (await kept.store.read(threadId))
          .map((entry, seq) => (seq === 20 ? JSON.parse(JSON.stringify(entry).replace("answer 20", "another")) : entry))
          .slice(fromSeq),
    });
    const { host } = on({ ...kept, store: changed });
    const state = await host.thread().state();
    expect(JSON.stringify(state === null ? null : turnsOf(state).at(-1))).toContain("another");
  });

  test("because a part of it is gone, which shows when that is looked at: the journal has it, and nothing is lost", async () => {
    const kept = watched();
    await long(kept, 100);
    kept.snapshot = (snapshot) => damagedIn(snapshot, "");
    const errors: string[] = [];
    const { host, model } = on(kept, {
      script: [says("ok"), says("again")],
      onObserverError: (error, where) => errors.push(`${where}: ${error instanceof Error ? error.name : ""}`),
    });
    // The prompt shows all turns.
    const asks = [host.ask("go"), host.thread().append({ role: "user", content: "and" })] as const;
    expect(await asks[0]).toMatchObject({ text: "ok", turn: 101 });
    await asks[1];
    expect(model.calls[0]?.messages).toHaveLength(201);
    expect(errors).toEqual(["snapshot: SnapshotDamagedError"]);
    expect(await host.thread().state()).toEqual(await foldedOf(kept.store));
    await host.close();
    kept.snapshot = (good) => good;
    kept.readsFrom.length = 0;
    expect((await on(kept).host.thread().state())?.context.seq).toBe(103);
    expect(kept.readsFrom).toEqual([103]);
  });

  test("because a part of it is gone fails a tool that looks there, once", async () => {
    const kept = watched();
    await long(kept, 400);
    kept.snapshot = (snapshot) => damagedIn(snapshot, "turns0.");
    const look = plain("look", (_, { state }) => turnsOf(state()).length);
    const errors: string[] = [];
    const { host, model } = on(kept, {
      tools: [look],
      // A prompt of the newest turns reads no others, and an ask is only searched in the newest 256.
      machine: { policy: lastTurns(2) },
      script: [calls(["look", {}]), calls(["look", {}]), says("done")],
      onObserverError: (error, where) => errors.push(`${where}: ${error instanceof Error ? error.name : ""}`),
    });
    await host.ask("go");
    expect(errors).toEqual(["snapshot: SnapshotDamagedError"]);
    expect(JSON.stringify(model.calls[1]?.messages)).toContain("is being read anew");
    expect(model.calls[2]?.messages.at(-1)?.parts).toMatchObject([
      { outcome: "completed", content: [{ text: "400" }] },
    ]);
  });

  test("with a missing chunk does not affect mere readers", async () => {
    const kept = watched();
    await long(kept, 100);
    kept.snapshot = (snapshot) => (snapshot === null ? null : { ...snapshot, chunk: () => "[]" });
    const { host } = on(kept);
    expect(await host.thread().state()).toEqual(await foldedOf(kept.store));
    expect((await host.thread().figures())?.turns.total).toBe(100);
    expect((await host.thread().explain())?.units).toHaveLength(200);
  });
});
