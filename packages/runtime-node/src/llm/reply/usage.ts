import type { Json, JsonObject, ReportedUsage } from "@colloquy/machine";
import { isObject } from "../json/loose-json.ts";

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

/**
 * The report of usage that a chunk or a choice has: in its own place (OpenAI), inside the last choice (Moonshot), under
 * `x_groq` (Groq), as `usage_metadata` (Gemini, LangChain), or as `timings` (llama.cpp); null for none.
 */
export const reportIn = ({
  usage,
  x_groq: groq,
  usage_metadata,
  usageMetadata,
  timings,
}: JsonObject): JsonObject | null => {
  const inGroq = isObject(groq) ? groq["usage"] : undefined;
  const gemini = [usageMetadata, usage_metadata].filter(isObject).find((report) => "promptTokenCount" in report);
  if (gemini !== undefined) return reportOfGemini(gemini);
  const report = [usage, inGroq, usage_metadata, usageMetadata].find(isObject);
  return report ?? (isObject(timings) ? reportOfTimings(timings) : null);
};

/** Gemini counts the tokens that it thought beside those of the answer. */
const reportOfGemini = (report: JsonObject): JsonObject => ({
  prompt_tokens: report["promptTokenCount"],
  completion_tokens: sumOf(report["candidatesTokenCount"], report["thoughtsTokenCount"]),
  total_tokens: report["totalTokenCount"],
  prompt_tokens_details: { cached_tokens: report["cachedContentTokenCount"] },
  completion_tokens_details: { reasoning_tokens: report["thoughtsTokenCount"] },
});

/** llama.cpp counts the tokens that it took from its cache apart. */
const reportOfTimings = ({ prompt_n: read, cache_n: cached, predicted_n: written }: JsonObject): JsonObject => ({
  prompt_tokens: sumOf(read, cached),
  completion_tokens: written,
  prompt_tokens_details: { cached_tokens: cached },
});

const sumOf = (first: Json | undefined, second: Json | undefined): number | undefined =>
  tokensOf(first) === undefined ? undefined : (tokensOf(first) ?? 0) + (tokensOf(second) ?? 0);

/**
 * The report that counts once another came. Zeros never replace what was reported. Where each of two has a figure that the
 * other lacks (gateways of Anthropic report input first and output last), both count, and a total of one of them does not.
 */
export const laterReport = (before: JsonObject | null, later: JsonObject | null): JsonObject | null => {
  if (before === null || later === null) return later ?? before;
  const lost = Object.keys(before).filter((name) => saysSomething(before[name]) && !saysSomething(later[name]));
  if (lost.length === 0) return later;
  const report = { ...later, ...Object.fromEntries(lost.map((name) => [name, before[name]])) };
  const { total_tokens: _, ...parts } = report;
  return lost.includes("total_tokens") || !sums.some((name) => lost.includes(name)) ? report : parts;
};

const sums = ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"];

const saysSomething = (value: Json | undefined): boolean =>
  isObject(value) ? Object.values(value).some(saysSomething) : Boolean(value);

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
