import type { LlmContext, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Failure } from "@colloquy/machine";
import type OpenAI from "openai";
import { aborted, failureOfBody, failureOfThrown, type FailureSetting, isStatusError } from "../failure/failure.ts";
import { redirectFailure } from "../failure/redirect.ts";
import { deltasOf } from "../reply/deltas.ts";
import { keysOf, secretsOf } from "../secrets/secrets.ts";
import type { Endpoint } from "./answer.ts";
import { oursOnly } from "./bounded-errors.ts";
import { readBody } from "./body.ts";
import { type RequestBody, sentBody } from "./request-body.ts";
import { runningCall } from "./running-call.ts";
import type { Waits } from "./waits.ts";

/**
 * Makes one request of a call: aborted with the call's signal, given up after `idleTimeoutMs` without a piece, answered at most
 * `endMs` after the answer said why it ended, not redirected, not retried, read whole or in pieces.
 */
export const exchange = async (
  client: OpenAI,
  { waits, ...endpoint }: Endpoint & { readonly waits: Waits },
  call: CallLlm,
  body: RequestBody,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const { clock } = context;
  const running = runningCall(call, context, waits, () => keysOf(client));
  const stream = endpoint.stream(running.onDelta, call);
  const secrets = (): readonly string[] => secretsOf(client);
  const setting = (): FailureSetting => ({ now: clock.now(), secrets: secrets(), baseURL: client.baseURL });
  const touch = (): void => running.touch(stream.state);
  const interrupted = (thrown: unknown): LlmOutcome => {
    if (context.signal.aborted) return stream.failed(aborted);
    // The answer is whole: only what would have followed it (a report of usage) is lost.
    if (stream.state.finished) return stream.outcome(setting());
    // A server that answered with an error said why, also where the rest of its body never came.
    const silence = isStatusError(thrown) ? null : running.silence();
    return stream.failed(silence ?? failureOfThrown(thrown, setting()));
  };
  const answered = async (): Promise<LlmOutcome> => {
    const response = await request(client, endpoint.path, body, call, running.signal);
    running.begin();
    touch();
    if (response.redirected) return stream.failed(followed(response, setting()));
    const streams = isEventStream(response, body["stream"] === true);
    const rest = await readBody(response, { stream: streams ? stream : null, signal: running.signal, touch });
    // An aborted body may just end.
    if (running.signal.aborted) return interrupted(undefined);
    if (streams && stream.state.begun) return stream.outcome(setting());
    return ofPlainBody(endpoint.outcomeOfBody(rest, setting(), call), rest, running.onDelta, setting());
  };
  try {
    return running.filtered(await answered().catch(interrupted), secrets());
  } finally {
    running.close();
  }
};

/** A `fetch` of the caller's own that follows redirects although it is asked not to. Nobody reads the body. */
const followed = (response: Response, setting: FailureSetting): Failure => {
  void response.body?.cancel().catch(() => {});
  return redirectFailure(response.status, response.url, setting);
};

/** The SDK makes the request; the response is taken as it is. */
const request = (
  client: OpenAI,
  path: string,
  body: RequestBody,
  call: CallLlm,
  signal: AbortSignal,
): Promise<Response> =>
  client
    .post(path, {
      ...sentBody(body),
      signal,
      maxRetries: 0,
      fetchOptions: { redirect: "manual", ...oursOnly },
      stream: body["stream"] === true,
      // The SDK would stop waiting for the first byte after ten minutes, by a clock of its own.
      ...(call.idleTimeoutMs === undefined ? {} : { timeout: longestTimeoutMs }),
    })
    .asResponse();

const longestTimeoutMs = 2 ** 31 - 1;

const isEventStream = (response: Response, wanted: boolean): boolean => {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("event-stream") || (wanted && !/application\/json|text\/html/.test(type));
};

const ofPlainBody = (
  outcome: LlmOutcome | null,
  text: string,
  onDelta: LlmContext["onDelta"],
  setting: FailureSetting,
): LlmOutcome => {
  if (outcome === null) return { type: "failed", failure: failureOfBody(text, setting) };
  if (outcome.type === "completed") for (const delta of deltasOf(outcome.reply)) onDelta(delta);
  return outcome;
};
