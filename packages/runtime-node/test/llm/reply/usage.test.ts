import { expect, test } from "vitest";
import { usageFromWire } from "../../../src/llm/reply/usage.ts";

test("is read under the names of each provider", () => {
  const sums = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const read = { inputTokens: 10, outputTokens: 4, totalTokens: 14 };
  expect(usageFromWire(sums)).toEqual(read);
  expect(usageFromWire({ input_tokens: 10, output_tokens: 4, total_tokens: 14 })).toEqual(read);
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
  { prompt_tokens: null, completion_tokens: "5", total_tokens: -1 },
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
