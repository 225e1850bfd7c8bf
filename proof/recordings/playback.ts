import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Json } from "@colloquy/machine";
import { openaiChat, systemClock } from "@colloquy/runtime-node";
import type { ExchangeResponse } from "@colloquy/runtime-test/recordings";
import {
  loopbackServer,
  recordedJson,
  recordedNothing,
  type RecordedResponse,
  recordedStream,
} from "@colloquy/runtime-test/server";

/** A model call, and the recorded response that it gets. */
export interface Played {
  readonly call: CallLlm;
  readonly response: ExchangeResponse;
}

/** What became of it: the request body that arrived, and the outcome that the handler gave. */
export interface PlayedOutcome {
  readonly body: Json | undefined;
  readonly outcome: LlmOutcome;
}

/** Makes model calls with the official SDK over HTTP, one after the other, against a server on this machine that answers as recorded. */
export const play = async (played: readonly Played[]): Promise<readonly PlayedOutcome[]> => {
  await using server = await loopbackServer({ recorded: played.map(({ response }) => recordedResponse(response)) });
  const handler: LlmHandler = openaiChat({
    baseURL: server.url,
    apiKey: "none is needed here",
    stream: false,
    includeUsage: false,
  });
  const outcomes: PlayedOutcome[] = [];
  for (const { call } of played) {
    const outcome = await handler(call, {
      signal: new AbortController().signal,
      onDelta: () => {},
      clock: systemClock,
      tools: [],
    });
    outcomes.push({ body: server.requests[outcomes.length]?.body, outcome });
  }
  server.assertComplete();
  return outcomes;
};

const recordedResponse = ({ status, headers, body, sse }: ExchangeResponse): RecordedResponse => {
  const options = {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null)),
  };
  if (sse !== undefined) return recordedStream(sse, options);
  return body === undefined || body === null ? recordedNothing(options) : recordedJson(body, options);
};
