import type { LlmContext, LlmOutcome } from "@colloquy/host";
import { errorTextOf } from "@colloquy/host/runtime";
import type { CallLlm } from "@colloquy/machine";
import OpenAI from "openai";
import { aborted, failureOfBody, failureOfThrown, type FailureSetting, isStatusError } from "../failure/failure.ts";
import { redirectFailure } from "../failure/response-facts.ts";
import { type AnswerReader, deltasOf } from "../reply/answer-reader.ts";
import { keysIn, secretsIn, sentBy } from "../secrets/secrets.ts";
import { type Connected, timeoutMax } from "./connection.ts";
import { type RunningCall, runningCall } from "./running-call.ts";
import { type RequestBody, sentBody } from "./written-messages.ts";

/** One way to ask a server for a reply. */
export interface Endpoint {
  /** The path after the base URL, such as `/chat/completions`. */
  readonly path: string;
  /** Makes the reader of one answer. */
  readonly reader: (onDelta: LlmContext["onDelta"], call: CallLlm) => AnswerReader;
}

/**
 * Returns a function that makes one request of a call, without redirects and retries. A body with `stream: true` asks for the
 * reply piece by piece. The call's signal, a silence of `idleTimeoutMs`, or `endTimeoutMs` after the finish reason end it.
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
      if (stream.finished) return ended(stream, "");
      // The status of an error says why the call failed, even if the rest of its body never came.
      const silence = isStatusError(thrown) ? null : running.silence();
      return stream.failed(silence ?? failureOfThrown(thrown, setting()));
    };
    const answered = async (): Promise<LlmOutcome> => {
      const request = client.post(endpoint.path, {
        ...sentBody(body),
        signal: running.signal,
        maxRetries: 0,
        fetchOptions: { redirect: "manual", ...oursOnly },
        stream: body["stream"] === true,
        // The SDK would stop waiting for the first byte after ten minutes, by a clock of its own.
        ...(call.idleTimeoutMs !== undefined && { timeout: timeoutMax }),
      });
      const response = await request.asResponse();
      running.begin();
      running.touch(stream);
      if (response.redirected) {
        // A `fetch` of the caller's own may follow redirects against the request. Nobody reads the body.
        cancel(response.body);
        return stream.failed(redirectFailure(response.status, response.url, setting()));
      }
      const streams = isEventStream(response, body["stream"] === true);
      const text = await readBody(response, streams ? stream : null, running);
      // An aborted body may just end.
      if (running.signal.aborted) return interrupted(undefined);
      if (streams && stream.begun) return ended(stream, "");
      const whole = endpoint.reader(() => {}, call);
      whole.readBody(text);
      const outcome = ended(whole, text);
      if (outcome.type === "completed") deltasOf(outcome.reply).forEach(running.onDelta);
      return outcome;
    };
    try {
      return running.filtered(await answered().catch(interrupted), secrets());
    } finally {
      running.close();
    }
  };
};

const isEventStream = (response: Response, wanted: boolean): boolean => {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("event-stream") || (wanted && !/application\/json|text\/html/.test(type));
};

/**
 * Reads a body into the stream, or whole without one. Returns the text that no stream has understood, to report a page or an
 * error in place of the stream. Comments, empty events and white space are not signs of life: a server may send them for ever.
 */
const readBody = async (
  { body }: Response,
  stream: AnswerReader | null,
  { signal, touch }: RunningCall,
): Promise<string> => {
  if (body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = body.getReader();
  const kept: Uint8Array<ArrayBuffer>[] = [];
  let keptBytes = 0;
  // A body that a `fetch` of the caller's made may not end with the call.
  signal.addEventListener("abort", () => cancel(reader), { once: true });
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      const before = stream?.heard;
      stream?.feed(value);
      if (stream === null ? value.some((byte) => byte > space) : stream.heard !== before) touch(stream ?? undefined);
      if (stream?.done === true) {
        finish(reader);
        return "";
      }
      if (stream === null || (!stream.begun && keptBytes < keptBytesMax)) {
        kept.push(value);
        keptBytes += value.length;
        if (keptBytes > bodyBytesMax) throw new RangeError(`the server's answer is larger than ${bodyBytesMax} bytes`);
      }
    }
    stream?.end();
  } catch (thrown) {
    // The connection must not stay open.
    cancel(reader);
    throw thrown;
  }
  return new Blob(kept).text();
};

/** JSON has no white space with a greater byte. */
const space = 0x20;

const keptBytesMax = 65_536;

/** Larger than any reply: an endless answer must fail. */
const bodyBytesMax = 2 ** 26;

/** Reads the end of a body after its answer, so that the connection can be used again; cancels it after a second. */
const finish = (reader: ReadableStreamDefaultReader<Uint8Array>): void => {
  const timer = setTimeout(() => cancel(reader), 1000);
  void reader
    .read()
    .then(({ done }) => (done ? undefined : reader.cancel()))
    .catch(() => {})
    .finally(() => clearTimeout(timer));
};

const cancel = (source: { cancel(): Promise<void> } | null): void => void source?.cancel().catch(() => {});

/** Marks the requests of the handlers among the options of their `fetch`: a client may be shared with other code. */
const isOurs: unique symbol = Symbol("colloquy");
const oursOnly = { [isOurs]: true };

/**
 * Has the client read the error bodies of marked requests to a bound, and within the request's time: the SDK itself reads them
 * to their end, which may never come. An aborted request ends, even if a `fetch` of the caller's ignores its signal.
 */
const withBoundedErrors = (client: OpenAI): OpenAI => {
  // Private in the SDK's types. A copy of the client would not know a key that is given to the client later.
  const own = client["fetch"] as typeof fetch | undefined;
  if (own === undefined || bounded.has(own)) return client;
  const fetchBounded: typeof fetch = async (input, init) => {
    const { signal } = init ?? {};
    if (init === undefined || !(isOurs in init) || !signal) return own(input, init);
    const answering = own(input, init);
    const aborting = new Promise<never>((_, reject) => {
      const abort = (): void => {
        reject(new DOMException("aborted", "AbortError"));
        // Nobody reads a later answer, and its connection must not stay open.
        void answering.then(({ body }) => cancel(body)).catch(() => {});
      };
      signal.addEventListener("abort", abort, { once: true });
    });
    const response = await Promise.race([answering, aborting]);
    if (response.ok) return response;
    const text = await errorTextOf(response, signal);
    return Object.defineProperty(response, "text", { value: () => Promise.resolve(text) });
  };
  bounded.add(fetchBounded);
  client["fetch"] = fetchBounded;
  return client;
};

const bounded = new WeakSet<typeof fetch>();
