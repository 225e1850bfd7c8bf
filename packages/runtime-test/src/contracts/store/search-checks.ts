import type { SearchHit, SearchOptions, Store } from "@colloquy/host";
import type { Entry, Event } from "@colloquy/machine";
import { expect } from "vitest";

import { append, saying, startOf, take, writeEntries } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks that messages are found by their words. The words are simple, so that every engine tokenizes them alike. */
export const searchChecks: StoreChecks = {
  "finds what was said by all of its words, whatever their case and order": async ({ store }) => {
    await writeEntries(store, "animals", [
      startOf(0),
      saying(1, "The quick brown Fox jumps", 10),
      saying(2, "over the lazy dog.", 20),
      saying(3, "foxes and dogs, concatenated", 30),
      saying(4, "a dog; a fox", 40),
    ]);
    await writeEntries(store, "plants", [startOf(0), saying(1, "fox glove", 50)]);
    expect(await found(store, "fox")).toEqual(["animals 1", "animals 4", "plants 1"]);
    expect(await found(store, "FOX dog")).toEqual(["animals 4"]);
    expect(await found(store, "the")).toEqual(["animals 1", "animals 2"]);
    expect(await found(store, "cat")).toEqual([]);
    expect(await found(store, "fox nowhere")).toEqual([]);
    const { hits } = await searching(store, "lazy");
    expect(hits).toMatchObject([{ threadId: "animals", seq: 2, at: 20 }]);
    expect(hits[0]?.excerpt).toContain("over the lazy dog.");
  },
  "finds what anybody said, and nothing that nobody did": async ({ store }) => {
    await writeEntries(store, "thread", kindsOfEntries);
    for (const [word, seq] of [
      ["instruction", 0],
      ["seeded", 0],
      ["question", 1],
      ["answered", 2],
      ["result", 3],
      ["partial", 4],
      ["appended", 5],
      ["changed", 6],
      ["recalled", 7],
      ["retold", 7],
    ] as const)
      expect(await found(store, word)).toEqual([`thread ${seq}`]);
    expect(await found(store, "unsaid")).toEqual([]);
  },
  "finds in one thread where only that is wanted": async ({ store }) => {
    for (const threadId of ["one", "other"]) await writeEntries(store, threadId, [startOf(0), saying(1, "apple")]);
    expect(await found(store, "apple", { threadId: "other" })).toEqual(["other 1"]);
    expect(await found(store, "apple", { threadId: "oth" })).toEqual([]);
  },
  "finds what was appended a moment ago, here or elsewhere, and each once": async ({ store, another, reopen }) => {
    const other = await another();
    await writeEntries(store, "thread", [startOf(0), saying(1, "apple")]);
    expect(await found(store, "apple")).toEqual(["thread 1"]);
    await writeEntries(other, "thread", [saying(2, "apple pie")]);
    await writeEntries(other, "more", [startOf(0), saying(1, "apple")]);
    const lease = await take(store, "thread");
    await append(store, lease, 2, [saying(3, "apple")]);
    expect(await found(store, "apple")).toEqual(["more 1", "thread 1", "thread 2", "thread 3"]);
    await append(store, lease, 3, [saying(4, "apple")]);
    expect(await found(other, "apple")).toHaveLength(5);
    expect(await found(await reopen(), "apple")).toHaveLength(5);
  },
  "shows each hit once to a reader of the pages": async ({ store }) => {
    const expected: string[] = [];
    for (const threadId of ["a", "b", "c"]) {
      const entries = Array.from({ length: 6 }, (_, index) => saying(index + 1, index % 2 === 0 ? "apple" : "pear"));
      await writeEntries(store, threadId, [startOf(0), ...entries]);
      expected.push(`${threadId} 1`, `${threadId} 3`, `${threadId} 5`);
    }
    for (const limit of [1, 2, 3, 9, 100]) {
      const pages: (readonly string[])[] = [];
      for (let next: string | null | undefined; next !== null;) {
        const page = await searching(store, "apple", { limit, ...(next !== undefined && { after: next }) });
        pages.push(page.hits.map(placeOf));
        next = page.next;
        // Hits of earlier pages do not reappear because of messages written meanwhile.
        if (limit === 2) await writeEntries(store, `late ${pages.length}`, [startOf(0), saying(1, "pear")]);
      }
      expect(pages.flat().toSorted()).toEqual(expected);
      expect(pages.map(({ length }) => length)).toEqual(
        Array.from({ length: Math.ceil(9 / limit) }, (_, page) => Math.min(limit, 9 - page * limit)),
      );
    }
  },
  "finds no more what was rewritten, and finds what stands in its place": async ({ store, another }) => {
    await writeEntries(store, "thread", [startOf(0), saying(1, "secret apple"), saying(2, "apple")]);
    expect(await found(store, "secret")).toEqual(["thread 1"]);
    const lease = await take(store, "thread");
    await append(store, lease, 2, [saying(3, "another secret")]);
    await store.rewrite(lease, [saying(1, "public pear"), redacted]);
    for (const each of [store, await another()]) {
      expect(await found(each, "secret")).toEqual([]);
      expect(await found(each, "apple")).toEqual(["thread 2"]);
      expect(await found(each, "public pear")).toEqual(["thread 1"]);
      // A redaction's replacement text is not part of any message.
      expect(await found(each, "redacted")).toEqual([]);
    }
  },
  "finds nothing of a deleted thread, also when another is made under its id": async ({ store, another }) => {
    for (const threadId of ["kept", "gone"])
      await writeEntries(store, threadId, [startOf(0), saying(1, "apple"), saying(2, "apple")]);
    expect(await found(store, "apple")).toHaveLength(4);
    await store.delete("gone");
    expect(await found(store, "apple")).toEqual(["kept 1", "kept 2"]);
    await writeEntries(store, "gone", [startOf(0), saying(1, "pear")]);
    expect(await found(await another(), "apple")).toEqual(["kept 1", "kept 2"]);
    expect(await found(store, "pear")).toEqual(["gone 1"]);
  },
  "takes what means something to a query language for mere words": async ({ store }) => {
    await writeEntries(store, "thread", [startOf(0), saying(1, "apple pie"), saying(2, "apples")]);
    for (const words of ['"apple" (pie', "apple & pie!", "+apple | 'pie'", "apple: <pie>", " apple\n\tpie\\ "])
      expect([words, await found(store, words)]).toEqual([words, ["thread 1"]]);
    for (const words of ["", " ", "*", '"', "'", "-", "(", ":*", "\0", "\ud800"])
      expect([words, await found(store, words)]).toEqual([words, []]);
    expect(await found(store, "app*")).toEqual([]);
  },
  "shows of a long text the part around the words": async ({ store }) => {
    const text = `${"before ".repeat(20_000)}needle${" after".repeat(20_000)}`;
    await writeEntries(store, "thread", [startOf(0), saying(1, text)]);
    const { hits } = await searching(store, "needle");
    expect(hits).toHaveLength(1);
    expect(hits[0]?.excerpt).toMatch(/before.*needle.*after/);
    expect(hits[0]?.excerpt.length).toBeLessThan(2000);
  },
  "refuses options of a search that are invalid": async ({ store }) => {
    for (const limit of [0, -1, 1.5, Number.NaN])
      await expect(searching(store, "apple", { limit })).rejects.toThrow(
        new RegExp(`limit must be .* \\(got ${limit}\\)`),
      );
    await expect(searching(store, "apple", { after: "elsewhere" })).rejects.toBeInstanceOf(RangeError);
  },
};

const searching = (store: Store, words: string, options?: SearchOptions): ReturnType<NonNullable<Store["search"]>> => {
  if (store.search === undefined) throw new Error("the store can't search");
  return store.search(words, options);
};

/** Returns the places of all hits, sorted, since each store has its own order of hits. */
const found = async (store: Store, words: string, options?: SearchOptions): Promise<readonly string[]> =>
  (await searching(store, words, options)).hits.map(placeOf).sort();

const placeOf = ({ threadId, seq }: SearchHit): string => `${threadId} ${seq}`;

const redacted: Entry = {
  seq: 3,
  event: { type: "ask.received", at: 3, askId: "ask 3", input: "[redacted]" },
  redacted: true,
};

const effectId = "unsaid";

/** An event without its time. */
type Untimed = Event extends infer Each ? (Each extends Event ? Omit<Each, "at"> : never) : never;

const events: readonly Untimed[] = [
  {
    type: "ask.received",
    askId: "unsaid",
    input: [
      {
        role: "user",
        content: [
          { type: "text", text: "question" },
          { type: "data", field: "unsaid", value: "unsaid" },
        ],
      },
    ],
    name: "unsaid",
    metadata: { note: "unsaid" },
  },
  {
    type: "llm.completed",
    effectId,
    reply: {
      content: [
        { type: "reasoning", text: "unsaid" },
        { type: "text", text: "answered" },
      ],
      toolCalls: [{ id: "unsaid", name: "unsaid", arguments: '"unsaid"' }],
    },
    finishReason: "stop",
  },
  { type: "tool.completed", effectId, content: "result" },
  {
    type: "llm.failed",
    effectId,
    failure: { kind: "network", message: "unsaid", retryable: true },
    partial: { content: "partial" },
  },
  { type: "message.appended", message: { role: "user", content: "appended" } },
  { type: "system.changed", system: "changed" },
  {
    type: "turn.added",
    messages: [
      { role: "user", content: "recalled" },
      { role: "assistant", content: "retold" },
    ],
  },
];

const kindsOfEntries: readonly Entry[] = [
  {
    seq: 0,
    format: 2,
    event: {
      type: "thread.started",
      at: 0,
      threadId: "unsaid",
      system: { role: "system", content: "instruction" },
      seed: [{ role: "user", content: [{ type: "text", text: "seeded" }] }],
      metadata: { note: "unsaid" },
    },
  },
  ...events.map((event, index): Entry => ({ seq: index + 1, event: { ...event, at: index + 1 } })),
];
