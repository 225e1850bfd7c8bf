import type { JsonObject } from "@colloquy/machine";
import { z } from "zod";

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
