import type { JsonObject, ReportedUsage } from "@colloquy/machine";
import { usageFromWire } from "../reply/usage.ts";
import type { AiStreamPart } from "./wrapped-model.ts";

type AiUsage = Extract<AiStreamPart, { type: "finish" }>["usage"];

/**
 * What a provider reported of one call. What it did not report is unknown, which is not zero; undefined when nothing is known.
 * The total is the one that it reports itself, and what it says beyond that is kept under `provider`.
 */
export const usageOfAi = (
  { inputTokens, outputTokens }: AiUsage,
  raw: JsonObject | undefined,
): ReportedUsage | undefined => {
  const { totalTokens, provider } = usageFromWire(raw) ?? {};
  const known = {
    inputTokens: tokensOf(inputTokens.total),
    outputTokens: tokensOf(outputTokens.total),
    totalTokens,
    cacheReadTokens: tokensOf(inputTokens.cacheRead),
    cacheWriteTokens: tokensOf(inputTokens.cacheWrite),
    reasoningTokens: tokensOf(outputTokens.reasoning),
  };
  const reported = Object.fromEntries(Object.entries(known).filter(([, tokens]) => tokens !== undefined));
  if (Object.keys(reported).length === 0) return undefined;
  return { ...reported, ...(provider === undefined ? {} : { provider }) };
};

const tokensOf = (value: number | undefined): number | undefined =>
  Number.isSafeInteger(value) && value !== undefined && value >= 0 ? value : undefined;
