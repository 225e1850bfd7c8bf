import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import { MockLanguageModelV4 } from "ai/test";
import { callOf, testClock } from "../call.ts";

type Answer = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];

/** A piece of a model's answer. */
export type Piece = Answer extends ReadableStream<infer Part> ? Part : never;

/** Makes a model that answers with these pieces; `open` leaves the stream open after them. */
export const modelOf = (pieces: readonly Piece[], { open = false } = {}): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    modelId: "model-1",
    doStream: () =>
      Promise.resolve({
        stream: new ReadableStream<Piece>({
          start: (controller) => {
            for (const piece of pieces) controller.enqueue(piece);
            if (!open) controller.close();
          },
        }),
      }),
  });

export const finish = (
  unified: "stop" | "tool-calls" | "length" | "error" | "interrupted" | "other" | "content-filter",
  raw?: string,
): Piece => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
    outputTokens: { total: 7, text: undefined, reasoning: undefined },
    raw: { total_tokens: 17, prompt_tokens: 10, service_tier: "standard" },
  },
});

export const text = (...deltas: readonly string[]): readonly Piece[] => [
  { type: "text-start", id: "1" },
  ...deltas.map((delta): Piece => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
];

/** Calls the model once. */
export const ask = async (
  handler: LlmHandler,
  fields: Partial<CallLlm> = {},
  tools: readonly ToolDeclaration[] = [],
): Promise<{ readonly outcome: LlmOutcome; readonly deltas: readonly LlmDelta[] }> => {
  const deltas: LlmDelta[] = [];
  const outcome = await handler(callOf(fields), {
    signal: new AbortController().signal,
    onDelta: (delta) => deltas.push(delta),
    clock: testClock(),
    tools,
  });
  return { outcome, deltas };
};
