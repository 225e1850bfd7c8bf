// Compares calls through `openaiChat` with a history of 4,000 messages, all but two of which were in the previous call.
// One side reuses the JSON of that call, the other writes all of it again. The server answers within the process, and
// reads nothing.
import type { CallLlm, Message } from "@colloquy/machine";
import { messageFromDraft } from "@colloquy/machine";
import type { LlmHandler } from "@colloquy/host";
import { openaiChat, systemClock } from "@colloquy/runtime-node";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const kept = handler();
  // The long thread continues, so that only one call in a thousand is a first one.
  const long = turns(kept, "long", { from: 4_000, to: 6_000 });
  // More rounds, since these take some milliseconds each.
  const grown = await pair(rounds * 7, calls, long, turns(kept, "short", { from: 40, to: 40 + 2 * calls }));
  const anew = await pair(rounds, calls, long, turns(handler(0), "long", { from: 4_000, to: 6_000 }));
  return [
    figureOf("a call with 4,000 messages / with 40", grown, 2, "sending aside"),
    figureOf("a call with 4,000 messages / written anew", anew, 0.1, "sending aside"),
  ];
};

const calls = 50;

/** Returns calls of a thread, each with two more messages than the one before, from one length to another and again. */
const turns = (llm: LlmHandler, threadId: string, { from, to }: { readonly from: number; readonly to: number }) => {
  const messages = Array.from({ length: to }, (_, index) =>
    messageFromDraft(`${index}`, { role: "user", content: userText(index) }),
  );
  let length = from;
  return async (): Promise<void> => {
    for (let call = 0; call < calls; call++) {
      length = length < to ? length + 2 : from + 2;
      const outcome = await llm(callOf(threadId, messages.slice(0, length)), context);
      if (outcome.type !== "completed") throw new Error(outcome.failure.message);
    }
  };
};

const handler = (writtenBytes?: number): LlmHandler =>
  openaiChat({
    model: "m",
    apiKey: "none",
    baseURL: "http://127.0.0.1/v1",
    stream: false,
    fetch: async () => new Response(answer, { headers: { "content-type": "application/json" } }),
    ...(writtenBytes === undefined ? {} : { writtenBytes }),
  });

const answer = JSON.stringify({
  object: "chat.completion",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
});

const callOf = (threadId: string, messages: readonly Message[]): CallLlm => ({
  type: "callLlm",
  id: `${threadId}/1.1#1`,
  threadId,
  turn: 1,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages,
  promptDigest: "",
  model: {},
  tools: [],
});

const context = {
  signal: new AbortController().signal,
  clock: systemClock,
  tools: [],
  onDelta: (): void => {},
};
