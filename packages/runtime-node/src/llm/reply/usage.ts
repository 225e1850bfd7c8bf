import type { Json, JsonObject, ReportedUsage } from "@colloquy/machine";
import { defined, isObject } from "../json/loose-json.ts";

/**
 * Reads a report of usage under any names; undefined if it has no figures. A value that is not an integer ≥ 0 is unknown, which
 * is not zero. Other facts of the report (prices, audio tokens, times) are kept under `provider`.
 */
export const usageFromWire = (given: JsonObject | null | undefined): ReportedUsage | undefined => {
  const usage = given ?? {};
  const reported: { [field in Field]?: number } = {};
  for (const [field, names] of wireNames) {
    const known = names.map((name) => tokensOf(at(usage, name))).find((tokens) => tokens !== undefined);
    if (known !== undefined) reported[field] = known;
  }
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = reported;
  // MiniMax reports the total alone, some gateways with zeros beside it.
  if (inputTokens + outputTokens === 0 && totalTokens > 0) {
    delete reported.inputTokens;
    delete reported.outputTokens;
  }
  return Object.keys(reported).length === 0 ? undefined : { ...reported, ...defined({ provider: restOf(usage, "") }) };
};

/**
 * Returns the report of usage in a chunk or a choice; null for none: in its own place (OpenAI), inside the last choice (Moonshot), under
 * `x_groq` (Groq), as `usage_metadata` (Gemini, LangChain), as `timings` (llama.cpp), or beside the choices (`eval_count` of
 * Ollama). Of several the first counts, except for zeros.
 */
export const reportIn = (place: JsonObject): JsonObject | null => {
  const { usage, x_groq: groq, timings, prompt_eval_count: read, eval_count: written } = place;
  let report = isObject(timings) ? reportOfTimings(timings) : null;
  if (tokensOf(written) !== undefined) report = { prompt_tokens: read, completion_tokens: written };
  // By both names at once, since each chunk of a stream is looked at.
  const metadata = place["usage_metadata"] ?? place["usageMetadata"];
  for (const found of [metadata, isObject(groq) ? groq["usage"] : null, usage])
    if (isObject(found)) report = laterReport(report, reportOfGemini(found) ?? found);
  return report;
};

/** Gemini counts the tokens that it thought beside those of the answer; null for a report of another server. */
const reportOfGemini = (report: JsonObject): JsonObject | null => {
  const count = (name: string): Json | undefined => memberOf(report, `${name}_token_count`);
  if (count("prompt") === undefined) return null;
  return {
    prompt_tokens: count("prompt"),
    completion_tokens: sumOf(count("candidates"), count("thoughts")),
    total_tokens: count("total"),
    prompt_tokens_details: { cached_tokens: count("cached_content") },
    completion_tokens_details: { reasoning_tokens: count("thoughts") },
  };
};

/** Reads a member, which servers in Java and JavaScript write as `promptTokens`. */
const memberOf = (object: JsonObject, name: string): Json | undefined => object[name] ?? object[camelCase(name)];

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** llama.cpp counts the tokens that it took from its cache apart. */
const reportOfTimings = ({ prompt_n: read, cache_n: cached, predicted_n: written }: JsonObject): JsonObject => ({
  prompt_tokens: sumOf(read, cached),
  completion_tokens: written,
  prompt_tokens_details: { cached_tokens: cached },
});

const sumOf = (first: Json | undefined, second: Json | undefined): number | undefined => {
  const tokens = tokensOf(first);
  return tokens === undefined ? undefined : tokens + (tokensOf(second) ?? 0);
};

/**
 * Returns the report that counts after another came. Zeros never replace a figure. If each of two has a figure that the other
 * lacks (gateways of Anthropic report input first and output last), both count, and a total of one of them does not.
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
  isObject(value) ? Object.values(value).some(saysSomething) : Number(value ?? 0) > 0 || value === true;

type Field = Exclude<keyof ReportedUsage, "provider">;

/** DeepSeek, Anthropic, Moonshot. */
const cacheReads = ["prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens"];

/** The places of each figure, in this order. */
const wireNames: readonly (readonly [Field, readonly string[]])[] = [
  ["inputTokens", ["prompt_tokens", "input_tokens", "prompt_eval_count", "tokens.input_tokens"]],
  ["outputTokens", ["completion_tokens", "output_tokens", "eval_count", "tokens.output_tokens"]],
  ["totalTokens", ["total_tokens"]],
  ["cacheReadTokens", ["prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", ...cacheReads]],
  ["cacheWriteTokens", ["prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens"]],
  [
    "reasoningTokens",
    ["completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"],
  ],
];

const read: ReadonlySet<string> = new Set(
  wireNames.flatMap(([, names]) => names.flatMap((name) => [name, camelCase(name)])),
);

const at = (usage: JsonObject, name: string): Json | undefined =>
  name
    .split(".")
    .reduce<Json | undefined>((value, step) => (isObject(value) ? memberOf(value, step) : undefined), usage);

/** Reads a number, which some servers write as a text. */
const tokensOf = (value: Json | undefined): number | undefined => {
  const tokens = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
};

/** Returns the members that were not read, without null, zeros and empty objects. */
const restOf = (usage: JsonObject, prefix: string): JsonObject | undefined => {
  const rest: { [member: string]: Json } = {};
  for (const [member, value] of Object.entries(usage)) {
    if (read.has(prefix + member) || value === undefined || value === null || value === 0) continue;
    const kept = isObject(value) ? restOf(value, `${prefix}${member}.`) : value;
    if (kept !== undefined) rest[member] = kept;
  }
  return Object.keys(rest).length === 0 ? undefined : rest;
};
