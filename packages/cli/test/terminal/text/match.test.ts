import { expect, test } from "vitest";
import { span } from "../../../src/terminal/text/line.ts";
import { withMatches } from "../../../src/terminal/text/wrap.ts";

test("words are marked whatever their case and in whatever pieces, and what matches is not dim", () => {
  expect(withMatches([span("It Ra", "strong"), span("ins in Oslo, and rains", "dim")], "rains")).toEqual([
    span("It ", "strong"),
    span("Ra", "strong", "match"),
    span("ins", "match"),
    span(" in Oslo, and ", "dim"),
    span("rains", "match"),
  ]);
  const line = [span("İstanbul")];
  expect(withMatches(line, "stan")).toBe(line);
  expect(withMatches(line, "")).toBe(line);
});
