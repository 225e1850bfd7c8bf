// The journal of a thread, as a host that does not hold it reads it.
import type { MachineOptions, Signal, State } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import { FollowedJournal } from "../../src/delegation/followed-journal.ts";
import { openJournal } from "../../src/journal/opening.ts";
import { overriding } from "../gated-store.ts";
import {
  calls,
  echo,
  entriesOf,
  errorOf,
  held,
  says,
  settle,
  stage,
  type ScriptedStep,
  type Stage,
  written,
} from "../stage.ts";

/** The signals that a follower needs: those about asks, and about the turns that answer them. */
const derived: ReadonlySet<Signal["type"]> = new Set<Signal["type"]>([
  "ask.delivered",
  "ask.joined",
  "ask.queued",
  "ask.returned",
  "ask.superseded",
  "ask.withdrawn",
  "output.refused",
  "turn.ended",
  "turn.interrupted",
  "turn.started",
]);

/** Sorts the signals of one entry, whose order means nothing. */
const sorted = (signals: readonly Signal[]): readonly Signal[] =>
  signals.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

interface Scenario {
  readonly overlap?: NonNullable<MachineOptions["overlap"]>;
  readonly script: readonly ScriptedStep[];
  readonly act: (staged: Stage) => Promise<unknown>;
}

/** Returns the state of a thread before its second entry. */
const startOf = async ({ store }: Stage): Promise<State> => {
  const first = fold((await entriesOf(store)).slice(0, 1));
  if (Either.isLeft(first)) throw new Error(first.left.reason);
  return first.right;
};

/** Makes a follower of a thread, which notes the signals of each entry. */
const follower = (
  staged: Stage,
  from: State | null,
  read: Stage["store"]["read"] = (...given) => staged.store.read(...given),
) => {
  const seen: (readonly [seq: number, signals: readonly Signal[]])[] = [];
  const store = overriding(staged.store, { read });
  // A follower uses no other members.
  const host = { store, snapshotEvery: 0, observation: new Observation({}, [], undefined) } as unknown as HostContext;
  const journal = new FollowedJournal("default", host, from, ({ seq }, signals) => seen.push([seq, signals]));
  return { journal, seen };
};

const schema = { jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } } as const;

const open = held();
const scenarios: readonly (readonly [string, readonly Signal["type"][], Scenario])[] = [
  [
    "asks that wait in a queue, one of which is withdrawn",
    ["ask.queued", "ask.withdrawn", "turn.started", "turn.ended"],
    {
      overlap: { type: "queue", max: 8 },
      script: [open.step, says("2")],
      act: async ({ host, clock }) => {
        const [, b, c] = ["a", "b", "c"].map((askId) => host.ask(askId, { askId }));
        await settle();
        b?.abort();
        await settle();
        open.answer(says("1"));
        await clock.advance(10);
        await c;
      },
    },
  ],
  [
    "asks that supersede one another",
    ["ask.queued", "ask.superseded"],
    {
      overlap: { type: "latest" },
      script: [(...given) => during(given), says("2")],
      act: async ({ host, clock }) => {
        const superseded = ["a", "b", "c"].map((askId) => errorOf(host.ask(askId, { askId })).catch(() => null));
        await settle();
        const last = host.ask("d", { askId: "d" });
        await settle();
        release();
        await clock.advance(10);
        await last;
        await Promise.all(superseded);
      },
    },
  ],
  [
    "an ask that interrupts a turn",
    ["turn.interrupted", "ask.queued", "turn.ended", "turn.started"],
    {
      overlap: { type: "interrupt" },
      script: [held().step, says("2")],
      act: async ({ host, clock }) => {
        const interrupted = errorOf(host.ask("a", { askId: "a" }));
        await settle();
        const next = host.ask("b", { askId: "b" });
        await clock.advance(10);
        await Promise.all([next, interrupted]);
      },
    },
  ],
  [
    "asks that join a turn, and are shown in it",
    ["ask.joined", "ask.delivered"],
    {
      overlap: { type: "steer", max: 8 },
      script: [(...given) => during(given), says("2")],
      act: async ({ host, clock }) => {
        const asked = ["a", "b", "c"].map((askId) => host.ask(askId, { askId }));
        await settle();
        release(calls(["echo", { text: "x" }]));
        await clock.advance(10);
        await Promise.all(asked);
      },
    },
  ],
  [
    "an ask that joins a turn, and is returned",
    ["ask.joined", "ask.returned", "turn.ended"],
    {
      overlap: { type: "steer", max: 8 },
      script: [held().step],
      act: async ({ host, clock }) => {
        const first = host.ask("a", { askId: "a" });
        await settle();
        const returned = errorOf(host.ask("b", { askId: "b" }));
        await settle();
        first.abort();
        await clock.advance(10);
        await returned;
      },
    },
  ],
  [
    "an output that is refused twice",
    ["output.refused"],
    {
      script: [says('{"n":"one"}'), says("no JSON"), says('{"n":1}')],
      act: ({ host }) => Promise.resolve(host.ask("a", { output: { name: "number", schema, repairs: 2 } })),
    },
  ],
  [
    "turns one after the other",
    ["turn.started", "turn.ended"],
    {
      script: [says("1"), says("2")],
      act: async ({ host }) => {
        await host.ask("a");
        await host.ask("b");
      },
    },
  ],
];

/** A model call that is answered by `release`. */
let release: (outcome?: ReturnType<typeof says>) => void = () => {};
const during = (_: unknown) =>
  new Promise<ReturnType<typeof says>>((resolve) => {
    release = (outcome = says("1")) => resolve(outcome);
  });

test.each(scenarios)("a follower derives the signals that the holder of the thread had: %s", async (_, types, run) => {
  const had: Signal[][] = [];
  const staged = stage({
    ...(run.overlap === undefined ? {} : { machine: { overlap: run.overlap } }),
    tools: [echo],
    script: run.script,
    observers: [{ entry: () => void had.push([]), signal: (signal) => void had.at(-1)?.push(signal) }],
  });
  await run.act(staged);
  await settle();
  const { journal, seen } = follower(staged, await startOf(staged));
  expect(await journal.read(async () => {})).toBe(true);
  const expected = had.map((signals) => sorted(signals.filter(({ type }) => derived.has(type))));
  expect(seen.map(([seq]) => seq)).toEqual(expected.slice(1).map((_, index) => index + 1));
  expect(seen.map(([, signals]) => sorted(signals))).toEqual(expected.slice(1));
  expect(seen.flatMap(([, signals]) => signals.map(({ type }) => type))).toEqual(expect.arrayContaining([...types]));
  expect(journal.state).toEqual(await staged.host.thread().state());
});

/** Returns a thread with two turns. */
const twoTurns = async (): Promise<Stage> => {
  const staged = stage({ script: [says("1"), says("2")] });
  await staged.host.ask("a");
  await staged.host.ask("b");
  return staged;
};

test("a follower without a known state reports no entry of its first read, and each later one once", async () => {
  const staged = await twoTurns();
  const all = await staged.store.read("default");
  let count = 3;
  const read: Stage["store"]["read"] = async (_, from = 0) => all.slice(from, count);
  const { journal, seen } = follower(staged, null, read);
  const order: string[] = [];
  expect(await journal.read(async () => void order.push("read"))).toBe(true);
  expect([journal.state?.context.seq, seen, order]).toEqual([2, [], ["read"]]);
  expect(await journal.read(async () => {})).toBe(true);
  expect(seen).toEqual([]);
  for (count of [4, 5]) await journal.read(async () => void order.push(`read with ${seen.length}`));
  expect(await journal.read(async () => {})).toBe(true);
  expect([seen.map(([seq]) => seq), order]).toEqual([
    [3, 4],
    ["read", "read with 0", "read with 1"],
  ]);
});

test("a follower of a thread that does not exist yet reports its entries from the second on", async () => {
  const staged = await twoTurns();
  const all = await staged.store.read("default");
  let count = 0;
  const { journal, seen } = follower(staged, null, async (_, from = 0) => all.slice(from, count));
  for (count of [0, 0, 2, 5]) expect(await journal.read(async () => {})).toBe(true);
  expect(seen.map(([seq, signals]) => [seq, signals.length])).toEqual([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
  ]);
});

test("a follower notices that the newest entry was replaced or is gone, and then reports no old entry again", async () => {
  const staged = await twoTurns();
  const all = await staged.store.read("default");
  const other = { ...Object(all[4]), note: "another entry" };
  let stored: readonly unknown[] = all;
  const { journal, seen } = follower(staged, null, async (_, from = 0) => stored.slice(from));
  const read = (): Promise<boolean> => journal.read(async () => {});
  expect([await read(), await read()]).toEqual([true, true]);
  stored = [...all.slice(0, 4), other];
  expect([await read(), await read(), await read()]).toEqual([false, true, true]);
  stored = all.slice(0, 3);
  expect([await read(), journal.state?.context.seq, await read()]).toEqual([false, 2, true]);
  // An empty journal is that of a deleted thread.
  stored = [];
  expect([await read(), journal.state?.context.seq]).toEqual([true, 2]);
  expect(seen).toEqual([]);
});

test("a follower that reads an entry which can't be read fails with its number", async () => {
  const staged = await twoTurns();
  const all = await staged.store.read("default");
  let stored: readonly unknown[] = all.slice(0, 3);
  const { journal } = follower(staged, null, async (_, from = 0) => stored.slice(from));
  await journal.read(async () => {});
  stored = [...all.slice(0, 3), { seq: 3, event: { type: "no.such.event" } }];
  expect(String(await errorOf(journal.read(async () => {})))).toMatch(/JournalUnreadableError.*entry 3/);
});

test("a follower whose state is partly in a damaged snapshot reads the whole journal, and reports only new entries", async () => {
  const staged = stage({ snapshotEvery: 8 });
  await staged.host.thread().start();
  for (let turn = 1; turn <= 100; turn++) await staged.host.thread().addTurn(written(turn));
  await staged.host.close();
  const snapshot = await staged.store.readSnapshot("default");
  if (snapshot === null) throw new Error("no snapshot");
  let isDamaged = false;
  const chunk = (id: string): string | undefined => (isDamaged ? undefined : snapshot.chunk(id));
  const store = overriding(staged.store, { readSnapshot: async () => ({ head: snapshot.head, chunk }) });
  // Opening a journal uses no other members.
  const host = { store, snapshotEvery: 8, observation: new Observation({}, [], undefined) } as unknown as HostContext;
  const opened = await openJournal(host, "default", null);
  if (opened === null) throw new Error("no thread");
  isDamaged = true;
  const next = staged.another({ snapshotEvery: 0 });
  await next.host.thread().addTurn(written(101));
  const { journal, seen } = follower(staged, opened.state);
  expect(await journal.read(async () => {})).toBe(true);
  expect(seen.map(([seq]) => seq)).toEqual([101]);
  expect(journal.state).toEqual(await next.host.thread().state());
  await next.host.thread().addTurn(written(102));
  expect(await journal.read(async () => {})).toBe(true);
  expect(seen.map(([seq]) => seq)).toEqual([101, 102]);
});
