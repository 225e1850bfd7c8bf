import type { AskPart } from "@colloquy/host";
import { expect, test } from "vitest";
import { TurnLogs, TurnWriter } from "../../src/turn-log/log.ts";
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
