import type { LlmContext, LlmOutcome } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import OpenAI from "openai";
import { aborted, failureOfBody, failureOfThrown, type FailureSetting, isStatusError } from "../failure/failure.ts";
import { redirectFailure } from "../failure/response-facts.ts";
import { type AnswerReader, readWhole } from "../reply/answer-reader.ts";
import { deltasOf } from "../reply/outcome.ts";
import { keysIn, secretsIn, sentBy } from "../secrets/secrets.ts";
import { oursOnly, readBody, withBoundedErrors } from "./body.ts";
import type { Connected } from "./connection.ts";
import { runningCall } from "./running-call.ts";
import { type RequestBody, sentBody } from "./written-messages.ts";

/** One way to ask a server for a reply. */
export interface Endpoint {
  /** Where requests go, behind the base URL, such as `/chat/completions`. */
  readonly path: string;
  /** Makes what reads one answer. */
  readonly reader: (onDelta: LlmContext["onDelta"], call: CallLlm) => AnswerReader;
}

/**
 * Returns what makes one request of a call: aborted with the call's signal, given up after `idleTimeoutMs` without a piece,
 * answered at most `endMs` after the answer said why it ended, not redirected, not retried, read whole or in pieces. A body with
 * `stream: true` asks for the reply piece by piece.
 */
export const exchanges = ({ client: made, waits }: Pick<Connected<object>, "client" | "waits">, endpoint: Endpoint) => {
  const client = withBoundedErrors(made(OpenAI));
  const secrets = (): readonly string[] => secretsIn(sentBy(client));
  return async (body: RequestBody, call: CallLlm, context: LlmContext): Promise<LlmOutcome> => {
    const running = runningCall(call, context, waits, () => keysIn(sentBy(client)));
    const stream = endpoint.reader(running.onDelta, call);
    const setting = (): FailureSetting => ({ now: context.clock.now(), secrets: secrets(), baseURL: client.baseURL });
    const ended = (reader: AnswerReader, text: string): LlmOutcome =>
      reader.outcome(setting()) ?? { type: "failed", failure: failureOfBody(text, setting()) };
    const interrupted = (thrown: unknown): LlmOutcome => {
      if (context.signal.aborted) return stream.failed(aborted);
      // The answer is whole: only what would have followed it (a report of usage) is lost.
      if (stream.state.finished) return ended(stream, "");
      // A server that answered with an error said why, also where the rest of its body never came.
      const silence = isStatusError(thrown) ? null : running.silence();
      return stream.failed(silence ?? failureOfThrown(thrown, setting()));
    };
    const answered = async (): Promise<LlmOutcome> => {
      const response = await request(client, endpoint.path, body, call, running.signal);
      const touch = (): void => running.touch(stream.state);
      running.begin();
      touch();
      if (response.redirected) {
        // A `fetch` of the caller's own follows redirects although it is asked not to. Nobody reads the body.
        void response.body?.cancel().catch(() => {});
        return stream.failed(redirectFailure(response.status, response.url, setting()));
      }
      const streams = isEventStream(response, body["stream"] === true);
      const text = await readBody(response, { stream: streams ? stream : null, signal: running.signal, touch });
      // An aborted body may just end.
      if (running.signal.aborted) return interrupted(undefined);
      if (streams && stream.state.begun) return ended(stream, "");
      const whole = endpoint.reader(() => {}, call);
      readWhole(whole, text);
      const outcome = ended(whole, text);
      if (outcome.type === "completed") for (const delta of deltasOf(outcome.reply)) running.onDelta(delta);
      return outcome;
    };
    try {
      return running.filtered(await answered().catch(interrupted), secrets());
    } finally {
      running.close();
    }
  };
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
