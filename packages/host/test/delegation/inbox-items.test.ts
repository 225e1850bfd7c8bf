import { expect, test } from "vitest";
import { readAnswer } from "../../src/delegation/inbox-items.ts";

const refused = (refusal: unknown) => readAnswer({ id: "a", handled: false, refusal });

test("a refusal is read as it was written", () => {
  const refusal = { kind: "stale", reason: "it was made before", turn: 3 };
  expect(refused(refusal)).toEqual({ id: "a", handled: false, refusal });
});

test.each([
  { refusal: undefined },
  { refusal: {} },
  { refusal: { kind: "odd", reason: "x" } },
  { refusal: { kind: "full" } },
])("$refusal can't be read, and its sender learns so", ({ refusal }) => {
  expect(refused(refusal)).toMatchObject({
    refusal: { kind: "invalid", reason: expect.stringMatching(/can't be read/) },
  });
});

test.each([null, {}, { id: "a" }, { id: "a", handled: true }])("%j is no answer", (stored) => {
  expect(readAnswer(stored)).toBeNull();
});
