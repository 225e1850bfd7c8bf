import type { SeedDraft } from "@colloquy/machine";
import type { Move, Schedule } from "@colloquy/runtime-test/arbitraries";
import { laws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

const messages = 40_000;

test(`M4 holds in a thread of ${messages} messages, half of them seed and half closed turns`, () => {
  const said = (count: number, text: string): readonly SeedDraft[] =>
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `${text} ${index}`,
    }));
  const turns = Array.from({ length: 200 }, (_, index): Move => ({
    afterMs: 1,
    move: "addTurn",
    messages: said(100, `turn ${index}`),
  }));
  const ask: Move = { afterMs: 1, move: "ask", input: "What did I say first?" };
  const answer: Move = {
    afterMs: 1,
    move: "answer",
    pick: 0,
    reply: { content: "Hello 0." },
    finishReason: "stop",
    content: null,
  };
  const schedule: Schedule = {
    input: { threadId: "t", at: 0, seed: said(messages / 2, "seed") },
    moves: [
      ...turns,
      ask,
      answer,
      { afterMs: 1, move: "truncate", pick: 200, characters: 2 },
      { afterMs: 1, move: "append", message: { role: "user", content: "More." } },
      ask,
    ],
  };
  expect(() => laws.M4({}, schedule)).not.toThrow();
});
