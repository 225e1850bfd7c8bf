import { eventArbitrary, journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { entryBySchema, eventBySchema } from "../../src/journal/codec.ts";
import { surelyEntry, surelyEvent } from "../../src/journal/entry-shape.ts";
import { runs } from "../runs.ts";

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Values that may be in the place of others. */
const odd = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  2 ** 53,
  "",
  "text",
  "tool",
  "steps",
  [],
  [null],
  {},
  { type: "text" },
  { a: 1 },
];

interface Change {
  /** Where, as far as there are members: the path of picks among them. */
  readonly path: readonly number[];
  readonly change: "replace" | "omit" | "double" | "add";
  readonly by: unknown;
}

const changeArbitrary: fc.Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat({ max: 20 }), { maxLength: 6 }),
  change: fc.constantFrom("replace", "omit", "double", "add"),
  by: fc.constantFrom(...odd),
});

/** A value with one change somewhere in it. */
const changed = (value: unknown, { path: [pick, ...path], change, by }: Change): unknown => {
  if (typeof value !== "object" || value === null) return by;
  if (change === "add" && pick === undefined) return Array.isArray(value) ? [...value, by] : { ...value, more: by };
  const members = Object.entries(value);
  const member = members[(pick ?? 0) % Math.max(1, members.length)];
  if (member === undefined) return by;
  const [name, inner] = member;
  const goesOn = path.length > 0 && typeof inner === "object" && inner !== null;
  if (goesOn || change === "replace" || change === "add")
    return withMember(value, name, goesOn || change === "add" ? changed(inner, { path, change, by }) : by);
  if (change === "double") return withMember(value, name, [inner, inner]);
  return Array.isArray(value)
    ? value.filter((_, index) => String(index) !== name)
    : Object.fromEntries(members.filter(([other]) => other !== name));
};

const withMember = (value: object, name: string, member: unknown): unknown =>
  Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };

describe("what is read by its shape", () => {
  test("is every entry and every event that the machine writes", () => {
    fc.assert(
      fc.property(journalArbitrary(), (entries) => {
        for (const [index, entry] of entries.entries()) expect(surelyEntry(throughJson(entry), index)).toEqual(entry);
      }),
      { numRuns: runs(100) },
    );
    fc.assert(
      fc.property(eventArbitrary({}), (event) => {
        expect(surelyEvent(throughJson(event))).toEqual(throughJson(event));
      }),
      { numRuns: runs(500) },
    );
  });

  /** How what the schemas read differs from what was read without them; null where nothing was. */
  const differs = (read: unknown, bySchema: () => unknown): unknown =>
    read === null ? null : differenceOf(throughJson(bySchema()), throughJson(Either.right(read)));
  const changesArbitrary = fc.array(changeArbitrary, { minLength: 1, maxLength: 2 });

  test("the schemas read alike, whatever is changed in an entry", () => {
    const seen = { read: 0, left: 0 };
    const agree = (entries: readonly unknown[], changes: readonly Change[]) => {
      for (const [index, entry] of entries.entries()) {
        const value = changes.reduce(changed, throughJson(entry));
        const read = surelyEntry(value, index);
        seen[read === null ? "left" : "read"]++;
        expect(differs(read, () => entryBySchema(value, index))).toBeNull();
      }
    };
    fc.assert(fc.property(journalArbitrary(), changesArbitrary, agree), { numRuns: Math.max(19, runs(300)) });
    // How many of each is up to chance; the test before this one has what is read by its shape.
    expect(Math.min(seen.read, seen.left)).toBeGreaterThan(0);
  });

  test("the schemas read alike, whatever is changed in an event", () => {
    const agree = (event: unknown, changes: readonly Change[]) => {
      const value = changes.reduce(changed, throughJson(event));
      expect(differs(surelyEvent(value), () => eventBySchema(value))).toBeNull();
    };
    fc.assert(fc.property(eventArbitrary({}), changesArbitrary, agree), { numRuns: runs(3_000) });
  });

  test("the schema reads a round of one call, and none without", () => {
    const call = { id: "c", name: "look", arguments: "{}" };
    const round = (toolCalls: readonly object[]) =>
      eventBySchema({ type: "round.appended", at: 0, reply: { toolCalls }, results: [] });
    expect(Either.isRight(round([call]))).toBe(true);
    expect(round([])).toMatchObject({ left: { path: "reply.toolCalls" } });
  });

  test("is a copy: a store may go on with what it gave", () => {
    const entry = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t", metadata: { a: [1] } } };
    const read = surelyEntry(entry, 0);
    entry.event.metadata.a.push(2);
    expect(read).toMatchObject({ event: { metadata: { a: [1] } } });
  });
});
