import type { Json, JsonObject, ReportedUsage } from "@colloquy/machine";
import type { RecordedUsage, UsageField } from "./script.ts";

type Names = { readonly [Field in UsageField]: string };

export const chatNames: Names = {
  inputTokens: "prompt_tokens",
  outputTokens: "completion_tokens",
  totalTokens: "total_tokens",
};

export const responsesNames: Names = { ...chatNames, inputTokens: "input_tokens", outputTokens: "output_tokens" };

/** Converts the provider's usage report. A figure that is not a whole number of tokens is unknown. */
export const reportedUsage = (usage: JsonObject | null | undefined, names: Names): ReportedUsage | undefined => {
  if (usage === null || usage === undefined) return undefined;
  const { inputTokens, outputTokens, totalTokens } = names;
  const [input, output, total] = [usage[inputTokens], usage[outputTokens], usage[totalTokens]];
  return {
    ...(isTokens(input) ? { inputTokens: input } : {}),
    ...(isTokens(output) ? { outputTokens: output } : {}),
    ...(isTokens(total) ? { totalTokens: total } : {}),
  };
};

export const recordedUsage = (
  sums: JsonObject | null,
  reports: readonly (JsonObject | null | undefined)[],
  names: Names,
): { readonly [Field in UsageField]: RecordedUsage } => {
  const of = (name: string): RecordedUsage => ({
    name,
    sum: sums?.[name],
    reported: reports.filter((report) => isTokens(report?.[name])).length,
  });
  return {
    inputTokens: of(names.inputTokens),
    outputTokens: of(names.outputTokens),
    totalTokens: of(names.totalTokens),
  };
};

const isTokens = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
