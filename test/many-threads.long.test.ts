import { type ListOptions, type Store } from "@colloquy/host";
import { describe, expect, it } from "vitest";

import { fill, madeAt, metadataOf, threadIdOf, wordsOfThread } from "../bench/scale/filling.ts";
import { dropPlace } from "../bench/scale/place-facts.ts";
import { newPlace, openStore } from "../proof/kit/places.ts";

const hasPostgres = (process.env["COLLOQUY_POSTGRES_URL"] ?? "") !== "";

/** More threads than the store scans at once. */
const manyIn = { sqlite: 2_500, postgres: 6_000 };

describe.each(hasPostgres ? (["sqlite", "postgres"] as const) : (["sqlite"] as const))("many threads in %s", (type) => {
  it("are listed and found where few are wanted, page by page, wherever they are among the others", async () => {
    const place = newPlace(type, "scale");
    const count = manyIn[type];
    await fill(place, 0, count);
    const store = openStore(place);
    const few = Array.from({ length: count }, (_, index) => index).filter((index) => index % 1_000 === 7);
    const ids = (some: readonly number[]): readonly string[] => some.map(threadIdOf);
    const { tenant, order } = metadataOf(7);
    const range = { from: madeAt(1_007), until: madeAt(2_007) };
    expect(await listed(store, { metadata: { tenant } })).toEqual(ids(few.toReversed()));
    expect(await listed(store, { metadata: { tenant }, order: "oldest" })).toEqual(ids(few));
    expect(await listed(store, { metadata: { tenant }, created: range })).toEqual(ids([1_007]));
    expect(await listed(store, { metadata: { tenant }, updated: range })).toEqual(ids([1_007]));
    expect(await listed(store, { metadata: { tenant, order } })).toEqual(ids([7]));
    expect(await listed(store, { metadata: { tenant: "tenant", order } })).toEqual([]);
    expect((await listed(store, { metadata: {} })).length).toBe(count);
    const { some, one } = wordsOfThread(7);
    expect(await found(store, some)).toEqual(ids(few.toReversed()));
    expect(await found(store, some, threadIdOf(1_007))).toEqual(ids([1_007]));
    expect(await found(store, `${some} ${one}`)).toEqual(ids([7]));
    expect(await found(store, "nobody")).toEqual([]);
    await store.close();
    await dropPlace(place);
  });
});

const listed = async (store: Store, options: ListOptions): Promise<readonly string[]> => {
  const limit = Object.keys(options.metadata ?? {}).length === 0 ? 1_000 : 2;
  const all: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await store.list({ ...options, limit, ...(after !== undefined && { after }) });
    all.push(...page.threads.map(({ threadId }) => threadId));
    after = page.next;
  }
  return all;
};

const found = async (store: Store, words: string, threadId?: string): Promise<readonly string[]> => {
  const all: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const options = { limit: 2, ...(threadId !== undefined && { threadId }), ...(after !== undefined && { after }) };
    const page = await store.search?.(words, options);
    if (page === undefined) throw new Error("the store can't search");
    all.push(...page.hits.map((hit) => hit.threadId));
    after = page.next;
  }
  return all;
};
