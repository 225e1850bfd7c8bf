import type { Part } from "@colloquy/machine";
import { expect, test } from "vitest";
import { cutBy, finishReasonOf } from "../../src/items/finish-reason.ts";
import { addPiece, type Piece, piecesOf } from "../../src/items/pieces.ts";

test("the texts of one kind that follow each other are one piece of a reply, and an empty one is none", () => {
  const parts: readonly Part[] = [
    { type: "text", text: "" },
    { type: "text", text: "It " },
    { type: "text", text: "" },
    { type: "text", text: "rains." },
    { type: "reasoning", text: "" },
    { type: "image", url: "u" },
    { type: "text", text: " Now." },
    { type: "refusal", text: "No." },
  ];
  expect(piecesOf(parts)).toEqual([
    { kind: "text", text: "It rains. Now." },
    { kind: "refusal", text: "No." },
  ]);
  const pieces: Piece[] = [];
  addPiece(pieces, "reasoning", "");
  expect(pieces).toEqual([]);
});

test.each([
  [null, "stop"],
  ["STOP", "stop"],
  ["end-turn", "stop"],
  ["tool_use", "tool-calls"],
  ["max-tokens", "length"],
  ["content-filter", "content-filter"],
  ["pause_turn", "other"],
])("an answer that ended with %j ended by %s", (reason, expected) => {
  expect(finishReasonOf(reason)).toBe(expected);
});

test("only a completed turn is cut by its finish reason", () => {
  const completed = (finishReason: string | null) => ({ status: "completed", finishReason }) as const;
  expect(cutBy(completed("length"))).toBe("max_output_tokens");
  expect(cutBy(completed("safety"))).toBe("content_filter");
  expect([cutBy(completed("stop")), cutBy(null), cutBy({ status: "cancelled", reason: null })]).toEqual([
    null,
    null,
    null,
  ]);
});
