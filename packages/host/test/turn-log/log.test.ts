import type { AskPart } from "@colloquy/host";
import { expect, test } from "vitest";
import { partsMax, TurnLog, TurnLogs } from "../../src/turn-log/log.ts";
import { StoredParts } from "../../src/turn-log/sink.ts";
import { manualClock } from "../stage.ts";

const text = (more: object = {}): AskPart => ({ type: "text.delta", turn: 1, step: 1, attempt: 1, text: "a", ...more });
const written = (position: number): AskPart => ({
  type: "toolCall.delta",
  turn: 1,
  step: 1,
  attempt: 1,
  position,
  callId: "1.1.0",
  name: "echo",
  providerCallId: "1",
  arguments: "{",
});

test.each<[what: string, first: AskPart, next: AskPart, parts: number]>([
  ["the same text", text(), text(), 1],
  ["the same call", written(0), written(0), 1],
  ["another attempt", text(), text({ attempt: 2 }), 2],
  ["another step", text(), text({ step: 2 }), 2],
  ["another kind of text", text(), text({ type: "reasoning.delta" }), 2],
  ["another call", written(0), written(1), 2],
])("a log joins deltas only if they continue one another: %s", (_, first, next, parts) => {
  const log = new TurnLog(1);
  log.append(1, first);
  log.append(1, next);
  expect(log.parts).toHaveLength(parts);
});

test("a log has all parts until there are too many, and then drops many at once", () => {
  const log = new TurnLog(1);
  for (let step = 1; step <= partsMax; step++) log.append(1, text({ step }));
  expect([log.first, log.end]).toEqual([0, partsMax]);
  log.append(1, text({ step: partsMax + 1 }));
  expect([log.first, log.end, log.parts.length]).toEqual([partsMax / 2, partsMax + 1, partsMax / 2 + 1]);
  expect([log.at(partsMax / 2 - 1), log.at(partsMax)?.part]).toEqual([undefined, text({ step: partsMax + 1 })]);
});

test("parts that were read from the store are dropped some time after their last reader", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const batch = { token: 1, number: 0, turn: 1, at: 0, until: Infinity, body: JSON.stringify([[0, 0, text()]]) };
  const log = { append: async () => {}, read: async () => [batch] };
  const stored = new StoredParts("t", { log, clock, everyMs: 1, keepMs: 1_000, report: () => {} }, logs);
  await stored.read();
  await clock.advance(2_000);
  expect(logs.of("t", 1)?.parts).toEqual([text()]);
  stored.end();
  await clock.advance(1_000);
  expect(logs.of("t", 1)).toBeUndefined();
});
