import type { Entry } from "@colloquy/machine";
import { expect, test } from "vitest";

import {
  checkedListing,
  comparePlaces,
  cursorOf,
  factsOf,
  isListed,
  type ListOptions,
  type StoredThread,
} from "../../src/ports/listing.ts";

test("options have defaults, and a cursor is the place that it was made of", () => {
  expect(checkedListing()).toEqual({ order: "newest", limit: 100, after: null });
  const place = { createdAt: -0.5, threadId: 'a "quoted" 🙂 \ud800 id' };
  expect(checkedListing({ order: "oldest", limit: 1, after: cursorOf(place) })).toEqual({
    order: "oldest",
    limit: 1,
    after: place,
  });
});

test.each<[ListOptions, RegExp]>([
  [{ limit: 0 }, /list: limit must be a whole number ≥ 1 \(got 0\)/],
  [{ limit: 1.5 }, /limit must be .* \(got 1\.5\)/],
  [{ after: "[1]" }, /after is "\[1\]"; it must be the next of a page/],
  [{ after: '["1","a"]' }, /after is/],
  [{ created: { until: Number.NaN } }, /created: until must be a time in milliseconds.* \(got NaN\)/],
  // Only JavaScript may pass these options.
  [{ updated: { from: "2026" } } as unknown as ListOptions, /updated: from must be .* \(got "2026"\)/],
  [{ order: "up" } as unknown as ListOptions, /order must be "newest" or "oldest" \(got "up"\)/],
])("options that are invalid are refused: %j", (options, words) => {
  expect(() => checkedListing(options)).toThrow(words);
  expect(() => checkedListing(options)).toThrow(RangeError);
});

test("places compare by time, and then by code points as UTF-8 has them, not by halves of surrogate pairs", () => {
  const ids = [
    "",
    "\0",
    "10",
    "9",
    "B",
    "a",
    "a\0",
    "aa",
    "b",
    "é",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "🙂",
    "🙂a",
    "\u{10ffff}",
  ];
  for (const [index, one] of ids.entries()) {
    for (const [other, id] of ids.entries())
      expect(Math.sign(compare(one, id)), `${JSON.stringify(one)} and ${JSON.stringify(id)}`).toBe(
        Math.sign(index - other),
      );
  }
  const bytes = (text: string): Buffer => Buffer.from(text, "utf8");
  expect(ids).toEqual(ids.toSorted((one, other) => Buffer.compare(bytes(one), bytes(other))));
  expect(comparePlaces({ createdAt: 1, threadId: "b" }, { createdAt: 2, threadId: "a" })).toBeLessThan(0);
});

test("a thread is listed when all that is wanted of it is so", () => {
  const thread: StoredThread = {
    threadId: "thread",
    seq: 3,
    createdAt: 10,
    updatedAt: 20,
    metadata: { user: "ada", tags: ["a", { b: 1, c: null }] },
  };
  const wanted: readonly ListOptions[] = [
    {},
    { limit: 1, order: "oldest", after: "no matter" },
    { metadata: { user: "ada" } },
    { metadata: { tags: ["a", { c: null, b: 1 }] } },
    { created: { from: 10, until: 11 }, updated: { from: 20 } },
  ];
  const unwanted: readonly ListOptions[] = [
    { metadata: { user: "bob" } },
    { metadata: { user: "ada", team: null } },
    { metadata: { tags: ["a"] } },
    { metadata: { toString: null } },
    { created: { until: 10 } },
    { updated: { from: 20.5 } },
    { metadata: { user: "ada" }, updated: { until: 20 } },
  ];
  for (const options of wanted) expect([options, isListed(thread, options)]).toEqual([options, true]);
  for (const options of unwanted) expect([options, isListed(thread, options)]).toEqual([options, false]);
});

test("entries say when their thread was made and changed, and what its metadata is now", () => {
  const started: Entry = { seq: 0, format: 2, event: { type: "thread.started", at: 5, threadId: "thread" } };
  const changed: Entry = { seq: 1, event: { type: "metadata.changed", at: 7, metadata: { user: "ada" } } };
  const later: Entry = { seq: 2, event: { type: "timer.fired", at: 9, effectId: "1" } };
  expect(factsOf([])).toEqual({});
  expect(factsOf([later])).toEqual({ updatedAt: 9 });
  expect(factsOf([started])).toEqual({ createdAt: 5, metadata: {}, updatedAt: 5 });
  expect(factsOf([started, changed, later])).toEqual({ createdAt: 5, metadata: { user: "ada" }, updatedAt: 9 });
});

const compare = (one: string, other: string): number =>
  comparePlaces({ createdAt: 0, threadId: one }, { createdAt: 0, threadId: other });
