import type { AskPart } from "@colloquy/host";
import { expect, test } from "vitest";
import { TurnLog, TurnLogs, TurnWriter } from "../../src/turn-log/log.ts";
import { manualClock } from "../stage.ts";

const started = (askId: string): AskPart => ({ type: "turn.started", turn: 1, askIds: [askId] });
const text = (words: string): AskPart => ({ type: "text.delta", turn: 1, step: 1, attempt: 1, text: words });

test("a writer continues the log of a turn that starts again, and forgets that of a deleted thread of the same id", () => {
  const logs = new TurnLogs(manualClock(), 1_000);
  const writer = new TurnWriter("t", logs, 7, null);
  writer.begin(1, ["a"]);
  for (const part of [started("a"), text("secret")]) writer.record(1, part);
  writer.begin(1, ["a"]);
  expect(writer.newest).toBe(1);
  expect(writer.log(1).parts).toEqual([started("a"), text("secret")]);
  writer.begin(1, ["b"]);
  expect(writer.newest).toBeNull();
  writer.record(1, started("b"));
  expect(writer.log(1).parts).toEqual([started("b")]);
  expect(logs.of("t", 1)).toBe(writer.log(1));
});

test("a writer tells its sink of each part but partial outputs, which the text has, and keeps an ended turn for a time", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const told: number[] = [];
  const writer = new TurnWriter("t", logs, 7, { added: (log) => void told.push(log.end) });
  const partial: AskPart = { type: "output.partial", turn: 1, step: 1, attempt: 1, value: {} };
  for (const part of [started("a"), text("{"), partial]) writer.record(1, part);
  expect(told).toEqual([1, 2]);
  await clock.advance(2_000);
  expect(logs.of("t", 1)?.end).toBe(2);
  writer.record(1, { type: "turn.ended", turn: 1, status: "completed" });
  await clock.advance(999);
  expect(logs.of("t", 1)?.end).toBe(3);
  await clock.advance(1);
  expect(logs.of("t", 1)).toBeUndefined();
});

test("a writer keeps a turn for a time after it went on to another one, or stopped", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const writer = new TurnWriter("t", logs, 7, null);
  writer.end();
  for (const turn of [1, 2]) writer.record(turn, { type: "turn.started", turn, askIds: [`${turn}`] });
  await clock.advance(1_000);
  expect([logs.of("t", 1), logs.of("t", 2)?.end, writer.newest]).toEqual([undefined, 1, 2]);
  writer.end();
  await clock.advance(1_000);
  expect(logs.of("t", 2)).toBeUndefined();
});

const at = { turn: 1, step: 1 };
const call = { ...at, position: 0, name: "f" };
const result = (callId: string): AskPart => ({
  type: "toolResult",
  ...call,
  callId,
  outcome: "completed",
  content: null,
});

test.each<readonly [what: string, part: AskPart, step: number, isLate: boolean]>([
  ["a text of the journalled step", text("a"), 1, true],
  ["a text of a later step", text("a"), 2, false],
  ["a result that the log has", result("1.1.0"), 1, true],
  ["another result of the step", result("1.1.1"), 1, false],
  ["the end of the step, if the log does not have it", { type: "step.ended", ...at }, 1, false],
  ["the end of a step that the log has", { type: "step.ended", turn: 1, step: 0 }, 0, true],
  [
    "a request that the log does not have",
    { type: "result.requested", ...call, callId: "1.1.0", arguments: "" },
    1,
    false,
  ],
])("a part that arrives after the journal gave its step is late unless it may follow the reply: %s", (...given) => {
  const [, part, step, isLate] = given;
  const log = new TurnLog(1);
  for (const kept of [{ type: "step.ended", turn: 1, step: 0 } as const, result("1.1.0")]) log.append(7, kept);
  expect(log.isLate(part, step)).toBe(false);
  log.journalledStep = 1;
  expect(log.isLate(part, step)).toBe(isLate);
});

test("a log continues a text that was shown elsewhere after a part from here, and knows its place", () => {
  const log = new TurnLog(1);
  const lost: AskPart = { type: "thread.lost", turn: 1 };
  const show = (words: string, offset: number): void =>
    log.appendShown({ part: text(words), place: { epoch: 7, index: 0, offset } });
  show("ab", 0);
  log.append(8, lost);
  show("bcd", 1);
  show("ef", 4);
  expect(log.parts).toEqual([text("ab"), lost, text("cdef")]);
  expect([0, 2].map((position) => log.at(position))).toMatchObject([
    { epoch: 7, index: 0, offset: 0 },
    { epoch: 7, index: 0, offset: 2 },
  ]);
});
