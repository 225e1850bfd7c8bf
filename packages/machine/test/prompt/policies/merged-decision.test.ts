import { describe, expect, test } from "vitest";
import type { Shrink, UnitPosition } from "../../../src/policies.ts";
import { mergedDecision } from "../../../src/prompt/policies/merged-decision.ts";

// Of two policies that shorten, a rule that stands already is not applied twice, and none is lost.

const rule = (more: Partial<Shrink> = {}): Shrink => ({
  rule: "reference",
  of: "messages",
  characters: 300,
  tool: "read",
  ...more,
});
const before = (turn: number, unit = 0): { readonly before: UnitPosition } => ({ before: { turn, unit } });

describe("the rules of a second policy", () => {
  test.each<readonly [string, Shrink, Shrink, readonly Shrink[]]>([
    ["that are the same stand once", rule(), rule(), [rule()]],
    ["that reach less far add nothing", rule(), rule(before(3)), [rule()]],
    ["that reach as far add nothing", rule(before(3)), rule(before(3)), [rule(before(3))]],
    ["that reach further take the place", rule(before(3)), rule(before(4)), [rule(before(4))]],
    ["that reach everywhere take the place", rule(before(3)), rule(), [rule()]],
    ["of another tool stand beside", rule(), rule({ tool: "open" }), [rule(), rule({ tool: "open" })]],
    ["of another length stand beside", rule(), rule({ characters: 301 }), [rule(), rule({ characters: 301 })]],
    ["for other parts stand beside", rule(), rule({ of: "toolResults" }), [rule(), rule({ of: "toolResults" })]],
    ["of another kind stand beside", rule(), rule({ rule: "headAndTail" }), [rule(), rule({ rule: "headAndTail" })]],
  ])("%s", (_, first, second, expected) => {
    expect(mergedDecision({ from: null, shrink: [first] }, { from: null, shrink: [second] }).shrink).toEqual(expected);
  });
});
