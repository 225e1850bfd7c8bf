import type { JsonObject } from "@colloquy/machine";
import { z } from "zod";
import type { Call } from "./route.ts";

/** Which page of a list is asked for, by the parameters of OpenAI's lists. */
export const pageQuery: z.ZodObject<{
  after: z.ZodOptional<z.ZodString>;
  limit: z.ZodDefault<z.ZodCoercedNumber>;
  order: z.ZodDefault<z.ZodEnum<{ asc: "asc"; desc: "desc" }>>;
  include: z.ZodOptional<z.ZodArray<z.ZodString>>;
}> = z.object({
  /** The item before the first. */
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  /** Accepted and without effect: everything that there is to include is always shown. */
  include: z.array(z.string()).optional(),
});

/** A page of a list, as OpenAI's clients read it: `last_id` is the `after` of the next. */
export const listPage = (data: readonly JsonObject[], hasMore: boolean): Response =>
  Response.json({
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: hasMore,
  });

/**
 * Reads pages until `limit` items are of threads that the caller may use, or no page is left. Answer with a cursor of the last of
 * these items: that of a store may name a thread of another principal.
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
