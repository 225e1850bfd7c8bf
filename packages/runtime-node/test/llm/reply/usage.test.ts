import type { JsonObject } from "@colloquy/machine";
import { expect, test } from "vitest";
import { laterReport, reportIn, usageFromWire } from "../../../src/llm/reply/usage.ts";

test("is read under the names of each provider", () => {
  const sums = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const read = { inputTokens: 10, outputTokens: 4, totalTokens: 14 };
  expect(usageFromWire(sums)).toEqual(read);
  expect(usageFromWire({ input_tokens: 10, output_tokens: 4, total_tokens: 14 })).toEqual(read);
  expect(usageFromWire({ tokens: { input_tokens: 10, output_tokens: 4 } })).toEqual({
    inputTokens: 10,
    outputTokens: 4,
  });
  expect(
    usageFromWire({
      ...sums,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
    }),
  ).toEqual({ ...read, cacheReadTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 });
  expect(usageFromWire({ ...sums, prompt_cache_hit_tokens: 3, cache_creation_input_tokens: 2 })).toEqual({
    ...read,
    cacheReadTokens: 3,
    cacheWriteTokens: 2,
  });
});

test.each([
  null,
  undefined,
  {},
  { prompt_tokens: null, completion_tokens: "5x", total_tokens: -1 },
  { total_tokens: 1.5 },
])("of %j is unknown", (usage) => {
  expect(usageFromWire(usage)).toBeUndefined();
});

test("reports zero as zero, and a total that is no sum as it is", () => {
  expect(usageFromWire({ prompt_tokens: 10, completion_tokens: 0, total_tokens: 99 })).toEqual({
    inputTokens: 10,
    outputTokens: 0,
    totalTokens: 99,
  });
});

test.each([
  [{ completion_tokens: 0, total_tokens: 5 }, { totalTokens: 5 }],
  [{ prompt_tokens: 0, total_tokens: 1 }, { totalTokens: 1 }],
  [
    { prompt_tokens: 0, completion_tokens: 0 },
    { inputTokens: 0, outputTokens: 0 },
  ],
  [
    { prompt_tokens: 0, total_tokens: 0 },
    { inputTokens: 0, totalTokens: 0 },
  ],
])("of %j has zeros beside a total only if the total is zero, too", (given, read) => {
  expect(usageFromWire(given)).toEqual(read);
});

test("keeps what else was said, where it says something", () => {
  const told = {
    total_tokens: 1,
    cost: 0.5,
    is_byok: false,
    cost_details: { upstream: null },
    prompt_tokens_details: { audio_tokens: 2, video_tokens: 0 },
  };
  expect(usageFromWire(told)).toEqual({
    totalTokens: 1,
    provider: { cost: 0.5, is_byok: false, prompt_tokens_details: { audio_tokens: 2 } },
  });
});

test("is found wherever servers put it", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 4 };
  const read = { inputTokens: 10, outputTokens: 4 };
  const found = (chunk: JsonObject): unknown => usageFromWire(reportIn(chunk));
  expect(found({ usage })).toEqual(read);
  expect(found({ usage: null, x_groq: { id: "r", usage } })).toEqual(read);
  expect(found({ usage_metadata: { input_tokens: 10, output_tokens: 4 } })).toEqual(read);
  const gemini = { promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 1, totalTokenCount: 14 };
  expect(found({ usageMetadata: gemini })).toEqual({ ...read, totalTokens: 14, reasoningTokens: 1 });
  expect(found({ timings: { prompt_n: 2, cache_n: 8, predicted_n: 4, prompt_ms: 3.5 } })).toEqual({
    ...read,
    cacheReadTokens: 8,
  });
  expect(found({ usage, timings: { prompt_n: 2 } })).toEqual(read);
  const zeros = { prompt_tokens: 0, completion_tokens: 0 };
  for (const place of [{ x_groq: { usage } }, { timings: { prompt_n: 10, predicted_n: 4 } }, { usageMetadata: gemini }])
    expect(found({ usage: zeros, ...place })).toMatchObject(read);
  expect(found({ choices: [] })).toBeUndefined();
});

test("is not replaced by zeros, and is joined where it comes in halves", () => {
  const report = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  expect(laterReport(null, zeros)).toEqual(zeros);
  expect(laterReport(zeros, report)).toEqual(report);
  expect(laterReport(report, zeros)).toEqual(report);
  expect(laterReport(report, { prompt_tokens: -1, completion_tokens: -1, total_tokens: -2 })).toEqual(report);
  expect(laterReport(report, null)).toEqual(report);
  expect(
    laterReport(
      { ...report, prompt_tokens_details: { cached_tokens: 3 } },
      { ...zeros, prompt_tokens_details: { cached_tokens: 0 } },
    ),
  ).toEqual({
    ...report,
    prompt_tokens_details: { cached_tokens: 3 },
  });
  const halves = laterReport(
    { prompt_tokens: 10, total_tokens: 10 },
    { prompt_tokens: 0, completion_tokens: 4, total_tokens: 4 },
  );
  expect(usageFromWire(halves)).toEqual({ inputTokens: 10, outputTokens: 4 });
});

test.each<JsonObject>([
  { usage: { prompt_tokens: "10", completion_tokens: "4" } },
  { usage: { promptTokens: 10, completionTokens: 4 } },
  { usage: { inputTokens: 10, outputTokens: 4 } },
  { usage: { prompt_eval_count: 10, eval_count: 4 } },
  { prompt_eval_count: 10, eval_count: 4 },
  { usage_metadata: { prompt_token_count: 10, candidates_token_count: 3, thoughts_token_count: 1 } },
])("is read under other names, and as a text: %j", (place) => {
  expect(usageFromWire(reportIn(place))).toMatchObject({ inputTokens: 10, outputTokens: 4 });
});

test("is unknown for the parts of a total that come as zeros", () => {
  expect(usageFromWire({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 14 })).toEqual({ totalTokens: 14 });
});
