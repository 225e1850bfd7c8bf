import type { AskPart } from "@colloquy/host";
import { LeaseLostError, type PartBatch } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { TurnLog, TurnLogs } from "../../src/turn-log/log.ts";
import { partsIn, PartSink, StoredParts } from "../../src/turn-log/sink.ts";
import { manualClock } from "../stage.ts";

const text = (words: string, step = 1): AskPart => ({ type: "text.delta", turn: 1, step, attempt: 1, text: words });

test.each([
  ["-1", "0"],
  ["0.5", "0"],
  ['"1"', "0"],
  ["null", "0"],
  ["0", "-1"],
  ["0", "0.5"],
  ["0", '"1"'],
  ["0", "null"],
])("partsIn rejects a part whose index is %s and whose offset is %s", (index, offset) => {
  const body = (...place: readonly string[]) => `[[${place.join()},${JSON.stringify(text("a"))}]]`;
  expect(partsIn(body("0", "0"), 7)).toHaveLength(1);
  expect(() => partsIn(body(index, offset), 7)).toThrow("it has an item that is not a part");
});

test("the sink of a lease writes no parts that were shown under another lease or made from the journal", async () => {
  const clock = manualClock();
  const bodies: string[] = [];
  const log = {
    append: async (_: unknown, { body }: { readonly body: string }) => void bodies.push(body),
    read: async () => [],
  };
  const logging = { log, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const sink = new PartSink(logging, { threadId: "t", token: 7, owner: "me" });
  const shown = new TurnLog(1);
  shown.append(7, text("a"));
  sink.added(shown);
  shown.append(6, text("of another lease", 2));
  shown.appendOfJournal(0, text("of the journal", 3));
  shown.append(7, text("b", 4));
  sink.added(shown);
  await clock.advance(10);
  expect(bodies.flatMap((body) => partsIn(body, 7))).toEqual([
    { part: text("a"), place: { epoch: 7, index: 0, offset: 0 } },
    { part: text("b", 4), place: { epoch: 7, index: 1, offset: 0 } },
  ]);
});

/** Makes a sink whose first batch is being written until a gate opens, and that was then notified of another part. */
const slowSink = async () => {
  const clock = manualClock();
  const gate = Promise.withResolvers<void>();
  const begun: number[] = [];
  const append = async (_: unknown, { number }: PartBatch): Promise<void> => {
    begun.push(number);
    if (number === 0) await gate.promise;
  };
  const logging = { log: { append, read: async () => [] }, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const sink = new PartSink(logging, { threadId: "t", token: 7, owner: "me" });
  const log = new TurnLog(1);
  const show = (part: AskPart): void => {
    log.append(7, part);
    sink.added(log);
  };
  show(text("a"));
  await clock.advance(10);
  show(text("b"));
  return { clock, gate, begun, sink };
};

test("the sink begins to write the rest only after the batch before it is written", async () => {
  const { clock, gate, begun, sink } = await slowSink();
  const end = sink.end();
  await clock.advance(10);
  expect(begun).toEqual([0]);
  gate.resolve();
  await end;
  expect(begun).toEqual([0, 1]);
});

test("the sink writes parts that came during a slow write at the next interval after it", async () => {
  const { clock, gate, begun } = await slowSink();
  await clock.advance(30);
  expect(begun).toEqual([0]);
  gate.resolve();
  await clock.advance(10);
  expect(begun).toEqual([0, 1]);
});

test("the sink of a turn that ends before its first batch is due leaves no timer behind", () => {
  const clock = manualClock();
  const log = { append: async () => {}, read: async () => [] };
  const logging = { log, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const sink = new PartSink(logging, { threadId: "t", token: 7, owner: "me" });
  const shown = new TurnLog(1);
  for (const part of [text("a"), { type: "turn.ended", turn: 1, status: "completed" } as const]) {
    shown.append(7, part);
    sink.added(shown);
  }
  expect(clock.sleepers).toBe(0);
});

test("a turn that was read from the store to its end is dropped some time after that, even if its reader continues", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };
  const body = JSON.stringify([
    [0, 0, text("a")],
    [1, 0, ended],
  ]);
  const log = { append: async () => {}, read: async () => [{ token: 7, number: 0, turn: 1, at: 0, until: 9, body }] };
  const stored = new StoredParts("t", { log, clock, everyMs: 10, keepMs: 1_000, report: () => {} }, logs);
  await stored.read();
  await clock.advance(999);
  expect(logs.of("t", 1)?.parts).toEqual([text("a"), ended]);
  await clock.advance(1);
  expect(logs.of("t", 1)).toBeUndefined();
});

test("a reader of the store's parts asks for those after the last batch, and for one turn only if it wants one", async () => {
  const clock = manualClock();
  const asked: unknown[] = [];
  const batch = { token: 7, number: 3, turn: 1, at: 0, until: 9, body: JSON.stringify([[0, 0, text("a")]]) };
  const log = {
    append: async () => {},
    read: async (...given: readonly unknown[]) => {
      asked.push(given);
      return [batch];
    },
  };
  const logging = { log, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const stored = new StoredParts("t", logging, new TurnLogs(clock, 1_000));
  await stored.read();
  await stored.read(1);
  expect(asked).toEqual([
    ["t", { at: clock.now(), after: null }],
    ["t", { at: clock.now(), after: { token: 7, number: 3 }, turn: 1 }],
  ]);
});

test.each(["was ended", "lost its lease"])("a sink that %s starts no timer for later parts", async (how) => {
  const clock = manualClock();
  const lease = { threadId: "t", token: 7, owner: "me" };
  const append = async (): Promise<void> => {
    throw new LeaseLostError(lease);
  };
  const logging = { log: { append, read: async () => [] }, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const sink = new PartSink(logging, lease);
  const log = new TurnLog(1);
  if (how === "lost its lease") {
    log.append(7, text("a"));
    sink.added(log);
    await clock.advance(10);
  } else await sink.end();
  log.append(7, text("b"));
  sink.added(log);
  expect(clock.sleepers).toBe(0);
});

test("a sink writes no batch without parts", async () => {
  const clock = manualClock();
  const numbers: number[] = [];
  const append = async (_: unknown, { number }: PartBatch): Promise<void> => void numbers.push(number);
  const logging = { log: { append, read: async () => [] }, clock, everyMs: 10, keepMs: 1_000, report: () => {} };
  const sink = new PartSink(logging, { threadId: "t", token: 7, owner: "me" });
  const log = new TurnLog(1);
  log.append(7, text("a"));
  sink.added(log);
  await clock.advance(10);
  sink.added(log);
  await clock.advance(10);
  await sink.end();
  expect(numbers).toEqual([0]);
});
