import { expect, test } from "vitest";
import { issuesInWords } from "../../src/tools/schema.ts";

test("issues in words are as many and as long as a model can use", () => {
  const issues = Array.from({ length: 1_000 }, (_, at) => ({ path: [at], message: "-a".repeat(2_000) }));
  const words = issuesInWords(issues);
  expect(words).toMatch(/^"0": (?:-a){200}…; "1": .*; and 980 more$/);
  expect(words.length).toBeLessThan(9_000);
});
