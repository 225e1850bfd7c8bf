import type { JsonObject } from "@colloquy/machine";
import { z } from "zod";
import type { Call } from "./route.ts";

/** The query parameters of a page, named as in OpenAI's lists. */
export const pageQuery: z.ZodObject<{
  after: z.ZodOptional<z.ZodString>;
  limit: z.ZodDefault<z.ZodCoercedNumber>;
  order: z.ZodDefault<z.ZodEnum<{ asc: "asc"; desc: "desc" }>>;
  include: z.ZodOptional<z.ZodArray<z.ZodString>>;
}> = z.object({
  /** The id of the item before the page. */
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  /** Accepted without effect: all optional members are always included. */
  include: z.array(z.string()).optional(),
});

/** Formats a page of a list, as OpenAI's clients read it. Its `last_id` is the `after` of the next page. */
export const listPage = (data: readonly JsonObject[], hasMore: boolean): Response =>
  Response.json({
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: hasMore,
  });

/**
 * Reads pages until `limit` items belong to threads that the caller may use, or no page is left. Answer with a cursor
 * made from the last of these items: the store's cursor may name another principal's thread.
 */
export const usable = async <Item extends { readonly threadId: string }>(
  call: Call,
  limit: number,
  pageAfter: (cursor?: string) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<readonly Item[]> => {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const { items, next } = await pageAfter(cursor);
    for (const item of items) {
      if (found.length === limit) return found;
      if (await call.mayUse(item.threadId)) found.push(item);
    }
    cursor = next ?? undefined;
  } while (cursor !== undefined && found.length < limit);
  return found;
};
