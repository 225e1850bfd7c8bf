import type { SeedDraft } from "@colloquy/machine";
import type { Move, Schedule } from "@colloquy/runtime-test/arbitraries";
import { immutable, untouched } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

test.each([
  ["M4 of what comes in", untouched, 40_000],
  ["M4 of what leaves", immutable, 4_000],
] as const)("%s holds in a long thread, half of it seed and half closed turns", (_, law, messages) => {
  const said = (count: number, text: string): readonly SeedDraft[] =>
    Array.from({ length: count }, (__, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `${text} ${index}`,
    }));
  const turns = Array.from({ length: messages / 200 }, (__, index): Move => ({
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
      { afterMs: 1, move: "truncate", pick: messages / 200, characters: 2 },
      { afterMs: 1, move: "append", message: { role: "user", content: "More." } },
      ask,
    ],
  };
  expect(() => law({}, schedule)).not.toThrow();
});
