// Compares calls through `openaiChat` with a history of 4,000 messages, of which all but two were in the call before.
// One side reuses the JSON of the earlier call, the other writes all of it again. The server answers within the
// process, and reads nothing.
import type { CallLlm, Message } from "@colloquy/machine";
import { messageFromDraft } from "@colloquy/machine";
import type { LlmHandler } from "@colloquy/host";
import { openaiChat, systemClock } from "@colloquy/runtime-node";
import { type Figure, pair, short } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const long = conversation(4_000);
  const brief = conversation(40);
  const kept = handler();
  const grown = await pair(
    rounds,
    calls,
    () => turns(kept, "long", long),
    () => turns(kept, "short", brief),
  );
  const whole = handler(0);
  const anew = await pair(
    rounds,
    calls,
    () => turns(kept, "long", long),
    () => turns(whole, "long", long),
  );
  return [
    {
      name: "a call with 4,000 messages / with 40",
      value: grown.ratio,
      most: 4,
      note: `${short(grown.ours)} µs against ${short(grown.reference)}, sending aside`,
    },
    {
      name: "a call with 4,000 messages / written anew",
      value: anew.ratio,
      most: 0.6,
      note: `${short(anew.ours)} µs against ${short(anew.reference)}, sending aside`,
    },
  ];
};

const calls = 50;

/** Calls of a thread that each bring two messages more. */
const turns = async (llm: LlmHandler, threadId: string, messages: readonly Message[]): Promise<void> => {
  for (let call = 1; call <= calls; call++) {
    const outcome = await llm(callOf(threadId, messages.slice(0, messages.length - 2 * (calls - call))), context);
    if (outcome.type !== "completed") throw new Error(outcome.failure.message);
  }
};

const conversation = (length: number): readonly Message[] =>
  Array.from({ length: length + 2 * calls }, (_, index) =>
    messageFromDraft(`${index}`, { role: "user", content: userText(index) }),
  );

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
