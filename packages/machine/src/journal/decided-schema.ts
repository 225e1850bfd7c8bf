import * as zod from "zod/mini";
import { shortestShrink } from "../prompt/shrink.ts";
import { outcomes } from "./event-schema.ts";
import type { messageSchemas } from "./message-schema.ts";
import { count, instant, list, nullable, optional, text } from "./message-schema.ts";

/**
 * Returns the schema of decisions. It is strict, because folding must stop at a decision that this version does not
 * know.
 */
export const decidedSchema = ({ contentPart }: Pick<ReturnType<typeof messageSchemas>, "contentPart">) => {
  const turns = turnRange().check(inOrder());
  return zod.strictObject({
    queued: optional(count),
    supersedes: optional(zod.literal(true)),
    interrupts: optional(zod.literal(true)),
    joins: optional(zod.literal(true)),
    goesOn: optional(zod.literal(true)),
    opens: optional(zod.int().check(zod.positive())),
    approvals: optional(list(count)),
    deadlineAt: optional(instant),
    cut: optional(cutSchema()),
    retry: optional(zod.strictObject({ attempt: count, dueAt: instant })),
    room: optional(count),
    unchecked: optional(zod.enum(["refused", "cut"])),
    results: optional(
      list(zod.strictObject({ position: count, outcome: zod.enum(outcomes), content: list(contentPart) })),
    ),
    limit: optional(
      zod.strictObject({
        limit: zod.enum(["steps", "toolCalls", "tokens", "costNano", "deadlineMs"]),
        allowed: zod.number(),
        reached: zod.number(),
      }),
    ),
    unfit: optional(
      zod.strictObject({
        tokens: zod.number(),
        available: zod.number(),
        budget: count,
        reserve: count,
        fixed: zod.number(),
        largest: nullable(zod.strictObject({ message: text, tokens: zod.number() })),
      }),
    ),
    compacting: optional(zod.strictObject({ dueAt: instant })),
    summary: optional(
      zod.strictObject({
        covers: turns,
        earlier: nullable(turns),
        interrupted: optional(zod.literal("omit")),
        fields: optional(fieldsSchema()),
        characters: optional(count),
        unfit: optional(zod.strictObject({ tokens: zod.number(), available: zod.number() })),
      }),
    ),
    summaryFailed: optional(text),
    summaryStale: optional(zod.literal(true)),
    fullness: optional(
      zod.strictObject({
        is: zod.enum(["within", "approaching_limit", "at_limit"]),
        tokens: zod.number(),
        available: zod.number(),
      }),
    ),
    counted: optional(zod.number().check(zod.nonnegative())),
    cost: optional(zod.strictObject({ nano: zod.int(), currency: text })),
    policyFailed: optional(text),
    kept: optional(count),
  });
};

const cutSchema = () =>
  zod.strictObject({
    policy: text,
    from: nullable(positionSchema()),
    dropped: optional(list(text)),
    summarised: optional(zod.extend(turnRange(), { upTo: count }).check(inOrder())),
    shrink: optional(
      list(
        zod.strictObject({
          rule: zod.enum(["clear", "headAndTail", "reference"]),
          of: zod.enum(["toolResults", "messages"]),
          characters: count.check(zod.minimum(shortestShrink)),
          before: optional(positionSchema()),
          tool: optional(text),
        }),
      ),
    ),
    fields: optional(fieldsSchema()),
    system: optional(zod.literal("omit")),
    interrupted: zod.enum(["keep", "omit"]),
    calibration: optional(zod.number().check(zod.positive())),
  });

const positionSchema = () => zod.strictObject({ turn: count, unit: count });

const turnRange = () => zod.strictObject({ from: count, to: count });

const inOrder = <Range extends { readonly from: number; readonly to: number }>() =>
  zod.refine<Range>(({ from, to }) => from <= to, "a range of turns begins behind its end");

const fieldsSchema = () => zod.strictObject({ omit: optional(list(text)), inputs: optional(list(text)) });
