import type { Entry, Json } from "@colloquy/machine";
import * as fc from "fast-check";
import { expect } from "vitest";

import { append, atMost, begun, entryOf, take } from "./sample-entries.ts";
import type { StoreChecks, Subject } from "./subject.ts";

/** Checks that stored values are returned unchanged, and share no object with the caller. */
export const valueChecks: StoreChecks = {
  "gives back every JSON value exactly": async ({ fresh }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(jsonValue, { minLength: 1, maxLength: 5 }), (values) =>
        comesBack(
          fresh,
          values.map((value, seq) => entryOf(seq, { value })),
        ),
      ),
      { numRuns: atMost(50) },
    );
  },
  ...Object.fromEntries(
    Object.entries<() => Json>({
      "characters outside the basic plane": () => "🙂 𝒳 👩‍👩‍👧 \u{10ffff}",
      "lone surrogates": () => ["\ud800", "a\udc00b", "\udc00\ud800", { "\udfff": "\ud83d" }],
      "control characters and line separators": () => "\0 \b \u001f \u007f \u2028 \u2029 \ufeff \uffff \r\n",
      "numbers at the edges": () => [2 ** 53 - 1, -(2 ** 53) + 1, 5e-324, 1.7976931348623157e308, 0.1, 1e21, 1e-7],
      "keys with a meaning elsewhere": () =>
        JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[],"toJSON":1}') as Json,
      "empty values": () => ["", [], {}, [[]], null, false, 0],
      "values nested 500 deep": () => Array.from({ length: 500 }).reduce<Json>((inner) => ({ inner: [inner] }), "deep"),
      "10 MB in one entry": () => `${"ten megabytes, é 🙂 ".repeat(500_000)}\ud800`,
    }).map(([name, value]) => [
      `gives back ${name}`,
      ({ fresh }: Subject) => comesBack(fresh, [entryOf(0), entryOf(1, { value: value() }), entryOf(2)]),
    ]),
  ),
  "is not changed by what is done to an entry after it was appended": async ({ store }) => {
    const lease = await take(store, "thread");
    const entry = entryOf(0, { list: [1, { deep: true }] });
    const batch = [entry];
    const appending = append(store, lease, -1, batch);
    batch.push(entryOf(1));
    disturb(entry);
    await appending;
    disturb(entry);
    expect(await store.read("thread")).toEqual([entryOf(0, { list: [1, { deep: true }] })]);
  },
  "is not changed by what is done to an entry that was read": async ({ store }) => {
    await begun(store, [entryOf(0, { list: [1, { deep: true }] })]);
    for (const entry of await store.read("thread")) disturb(entry);
    expect(await store.read("thread")).toEqual([entryOf(0, { list: [1, { deep: true }] })]);
  },
};

const comesBack = async (fresh: Subject["fresh"], entries: readonly Entry[]): Promise<void> => {
  const { store, reopen } = await fresh();
  const lease = await take(store, "thread");
  for (const [index, entry] of entries.entries()) await append(store, lease, index - 1, [entry]);
  const written = JSON.stringify(entries);
  // Compared as one boolean, because a failing comparison would print 10 MB.
  expect(JSON.stringify(await store.read("thread")) === written).toBe(true);
  const later = await reopen();
  expect(JSON.stringify(await later.read("thread")) === written).toBe(true);
  await later.close();
};

/** Any code units, so that lone surrogates occur anywhere. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const jsonValue: fc.Arbitrary<Json> = fc
  .oneof(fc.jsonValue(), anyText, fc.dictionary(anyText, fc.jsonValue(), { noNullPrototype: true }))
  // Normalised as by a transfer as JSON: no -0, and one spelling of each number.
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

/** Changes everything in a value that can be changed; a frozen value stays as it is. */
const disturb = (value: unknown): void => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  for (const [key, member] of Object.entries(value)) {
    disturb(member);
    Reflect.set(value, key, "disturbed");
  }
  Reflect.set(value, "added", true);
};
