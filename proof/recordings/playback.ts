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

export interface Played {
  readonly call: CallLlm;
  readonly response: ExchangeResponse;
  readonly host?: string | undefined;
}

export interface PlayedOutcome {
  readonly body: Json | undefined;
  readonly outcome: LlmOutcome;
}

/** Makes model calls with the official SDK over HTTP, one by one, against a local server with the recorded answers. */
export const play = async (played: readonly Played[]): Promise<readonly PlayedOutcome[]> => {
  await using server = await loopbackServer({ recorded: played.map(({ response }) => recordedResponse(response)) });
  const handlers = new Map<string, LlmHandler>();
  const handlerOf = (host: string): LlmHandler => {
    const handler = handlers.get(host) ?? handlerFor(host, server.url);
    handlers.set(host, handler);
    return handler;
  };
  const outcomes: PlayedOutcome[] = [];
  for (const { call, host = "" } of played) {
    const outcome = await handlerOf(host)(call, {
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

/**
 * Makes a handler that writes requests for the recorded host, but sends them to the server on this machine. Without a
 * recorded host it assumes a lenient server.
 */
const handlerFor = (host: string, url: string): LlmHandler => {
  const baseURL = host === "" ? url : `https://${host}/v1`;
  return openaiChat({
    baseURL,
    ...(host === "" ? { dialect: "lenient" } : {}),
    apiKey: "none is needed here",
    stream: false,
    includeUsage: false,
    fetch: (to, init) => fetch((to instanceof Request ? to.url : String(to)).replace(baseURL, url), init),
  });
};

const recordedResponse = ({ status, headers, body, sse }: ExchangeResponse): RecordedResponse => {
  const options = {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null)),
  };
  if (sse !== undefined) return recordedStream(sse, options);
  return body === undefined || body === null ? recordedNothing(options) : recordedJson(body, options);
};
