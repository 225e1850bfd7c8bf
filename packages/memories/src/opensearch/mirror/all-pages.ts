import * as Either from "fp-ts/lib/Either.js";
import type { Answer, MemoryPage } from "../client/memory-client.ts";

/**
 * Reads all items of a list by offset while others write to it. It reads to the end, and again from the start as long
 * as that finds items that moved there meanwhile. Returns each item once, in the order in which they were first seen.
 */
export const allPages = async <Item extends { readonly id: string }>(
  read: (from: number) => Answer<MemoryPage<Item>>,
): Answer<readonly Item[]> => {
  const found = new Map<string, Item>();
  for (let pass = 0, isNew = true; isNew; pass++) {
    isNew = pass === 0;
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof read>> = await read(from);
      if (Either.isLeft(page)) return page;
      const known = found.size;
      for (const item of page.right.items) if (!found.has(item.id)) found.set(item.id, item);
      const brought = found.size > known;
      isNew ||= brought;
      // The items after a page of known items were read before.
      from = pass > 0 && !brought ? null : page.right.next;
    }
  }
  return Either.right([...found.values()]);
};
