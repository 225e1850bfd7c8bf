import * as Either from "fp-ts/lib/Either.js";
import type { Answer, MemoryPage } from "../client/memory-client.ts";

/**
 * All items of a list that is read by offset while others write it: from the top to the end, and from the top again as long as
 * that brings items which moved there meanwhile. In the order in which they were first seen, each once.
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
      // What lies behind items that are all known was read before.
      from = pass > 0 && !brought ? null : page.right.next;
    }
  }
  return Either.right([...found.values()]);
};
