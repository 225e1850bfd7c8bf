import { expect, test } from "vitest";
import { isDelta } from "../../src/ports/llm.ts";

const call = { type: "toolCall", index: 0, id: null, name: "f", arguments: "{" };

test.each<readonly [given: unknown, isTaken: boolean]>([
  [{ type: "text", text: "a" }, true],
  [{ type: "reasoning", text: "" }, true],
  [{ type: "refusal", text: "a" }, true],
  [{ type: "image", text: "a" }, false],
  [{ type: "text" }, false],
  [{ type: "text", text: 7 }, false],
  [{ text: "a" }, false],
  [null, false],
  ["text", false],
  [undefined, false],
  [call, true],
  [{ ...call, index: 3, id: "1" }, true],
  [{ ...call, index: -1 }, false],
  [{ ...call, index: 0.5 }, false],
  [{ ...call, index: "0" }, false],
  [{ ...call, id: 7 }, false],
  [{ ...call, id: undefined }, false],
  [{ ...call, name: null }, false],
  [{ ...call, arguments: {} }, false],
  [{ ...call, name: null, arguments: {} }, false],
])("a host takes %j from a model handler as a piece of a reply only if it is one", (given, isTaken) => {
  expect(isDelta(given)).toBe(isTaken);
});
