import type { Json, JsonObject, ReportedUsage } from "@colloquy/machine";
import { isObject } from "./loose-json.ts";

/**
 * What a provider reported of one call, under whichever names. What is no non-negative integer is unknown, which
 * is not zero; undefined when nothing is known at all. What it reports beyond that (prices, audio tokens, times)
 * is kept under `provider`.
 */
export const usageFromWire = (usage: JsonObject | null | undefined): ReportedUsage | undefined => {
  if (usage === null || usage === undefined) return undefined;
  const reported: { [field in Field]?: number } = {};
  for (const [field, names] of wireNames) {
    const known = names.map((name) => tokensOf(at(usage, name))).find((tokens) => tokens !== undefined);
    if (known !== undefined) reported[field] = known;
  }
  if (Object.keys(reported).length === 0) return undefined;
  const rest = restOf(usage, "");
  return rest === undefined ? reported : { ...reported, provider: rest };
};

type Field = Exclude<keyof ReportedUsage, "provider">;

/** Where each figure is looked for, in this order. */
const wireNames: readonly (readonly [Field, readonly string[]])[] = [
  ["inputTokens", ["prompt_tokens", "input_tokens"]],
  ["outputTokens", ["completion_tokens", "output_tokens"]],
  ["totalTokens", ["total_tokens"]],
  [
    "cacheReadTokens",
    [
      "prompt_tokens_details.cached_tokens",
      "input_tokens_details.cached_tokens",
      "prompt_cache_hit_tokens",
      "cache_read_input_tokens",
    ],
  ],
  ["cacheWriteTokens", ["prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens"]],
  [
    "reasoningTokens",
    ["completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"],
  ],
];

const read: ReadonlySet<string> = new Set(wireNames.flatMap(([, names]) => names));

const at = (usage: JsonObject, name: string): Json | undefined => {
  const [outer = "", inner] = name.split(".");
  const value = usage[outer];
  if (inner === undefined) return value;
  return isObject(value) ? value[inner] : undefined;
};

const tokensOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** What was not read and says something: neither null, nor zero, nor empty. */
const restOf = (usage: JsonObject, prefix: string): JsonObject | undefined => {
  const rest: { [member: string]: Json } = {};
  for (const [member, value] of Object.entries(usage)) {
    if (read.has(prefix + member) || value === undefined || value === null || value === 0) continue;
    const kept = isObject(value) ? restOf(value, `${prefix}${member}.`) : value;
    if (kept !== undefined) rest[member] = kept;
  }
  return Object.keys(rest).length === 0 ? undefined : rest;
};
