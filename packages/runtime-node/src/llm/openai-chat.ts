import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import { problemOfOptions } from "@colloquy/host/store";
import { type CallLlm, ConfigurationError, type Failure, type JsonObject } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { ClientOptions } from "openai";
import OpenAI from "openai";
import { deltasOf, failed, outcomeOfBody, outcomeOfStream } from "./chat-answer.ts";
import { decodeChatBody } from "./reply/chat-body.ts";
import { chatRequest, type ChatRequestOptions } from "./chat-request.ts";
import { chatStream, type ChatStream } from "./reply/chat-stream.ts";
import { aborted, failureOfBody, failureOfThrown, type FailureSetting, idleFailure } from "./failure/failure.ts";
import { filteredDeltas } from "./secrets/filtered-deltas.ts";
import * as Either from "fp-ts/lib/Either.js";
import { idleTimer } from "./idle-timer.ts";
import { type KeyFilter, keyFilter } from "./secrets/key-filter.ts";
import { redact } from "./secrets/redact.ts";
import { redirectFailure } from "./failure/redirect.ts";
import { keysOf, refuseCredentials, secretsOf } from "./secrets/secrets.ts";

/** A client of the official SDK, or what to make one from. Its own retries are not used: the machine retries. */
export type OpenAiConnection =
  | { readonly client: OpenAI }
  | ({ readonly client?: never } & Pick<ClientOptions, keyof typeof connectionOptions>);

export type OpenAiChatOptions = ChatRequestOptions & OpenAiConnection;

/**
 * Calls any server that speaks OpenAI's chat completions. It reads the bytes itself, since the SDK's own decoding
 * loses calls and throws on what servers really send. Throws only here and at once, where the SDK can't make a client (no key),
 * or where the base URL holds credentials.
 *
 * Any byte counts as a sign of life for `idleTimeoutMs`, comments too: that is how servers say that a model still
 * thinks or waits its turn. One that sends them for ever is stopped by the limit `deadlineMs` of the turn.
 *
 * The model is offered exactly the tools of the call, and none for summaries. An output that the call wants is asked for by
 * `response_format` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Redirects are not followed. The client's keys are taken out of whatever the server sends: reply, pieces and failures.
 *
 * Of the options a copy is kept, but for a `client`: whatever becomes of them later changes no call.
 */
export const openaiChat = (given: OpenAiChatOptions): LlmHandler => {
  const problem = problemOfOptions("openaiChat", given, optionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const client = given.client ?? new OpenAI({ ...keyOf(given), ...frozenCopy(pick(given, connectionOptions)) });
  const options: ChatRequestOptions = frozenCopy(pick(given, requestOptions));
  refuseCredentials(client.baseURL);
  return async (call, context) => {
    const asked = outputRequest(call, context);
    const body = chatRequest(asked.call, options, asked.context.tools);
    return Either.isLeft(body)
      ? { type: "failed", failure: { kind: "bad_request", message: body.left, retryable: false } }
      : asked.read(await perform(client, call, body.right, asked.context));
  };
};

/** A server of one's own often needs no key, but the SDK wants one. @throws ConfigurationError where OpenAI's needs one */
const keyOf = ({ apiKey, baseURL }: Pick<ClientOptions, "apiKey" | "baseURL">): Pick<ClientOptions, "apiKey"> => {
  const { OPENAI_API_KEY, OPENAI_ADMIN_KEY, OPENAI_BASE_URL } = process.env;
  if ([apiKey, OPENAI_API_KEY, OPENAI_ADMIN_KEY].some((key) => key !== undefined && key !== "")) return {};
  if ((baseURL ?? OPENAI_BASE_URL ?? "") !== "") return { apiKey: "none" };
  throw new ConfigurationError(
    "openaiChat has no key: set OPENAI_API_KEY, or give apiKey; a server of your own, named by baseURL or OPENAI_BASE_URL, needs none",
  );
};

const requestOptions = { model: true, tools: true, stream: true, includeUsage: true } as const;

const connectionOptions = {
  apiKey: true,
  baseURL: true,
  organization: true,
  project: true,
  defaultHeaders: true,
  defaultQuery: true,
  fetch: true,
  fetchOptions: true,
  timeout: true,
} as const;

const optionNames = { ...requestOptions, ...connectionOptions, client: true } as const;

const perform = async (client: OpenAI, call: CallLlm, body: JsonObject, context: LlmContext): Promise<LlmOutcome> => {
  const control = new AbortController();
  const abort = (): void => control.abort();
  if (context.signal.aborted) abort();
  context.signal.addEventListener("abort", abort, { once: true });
  const idle = idleTimer(context.clock, call.idleTimeoutMs, abort);
  let keys: KeyFilter | undefined;
  // Looked up when something has come: a client may fetch its key when it makes the request.
  const filter = (): KeyFilter => (keys ??= keyFilter(keysOf(client)));
  const deltas = filteredDeltas(filter, context.onDelta);
  const stream = chatStream(deltas.onDelta);
  const setting = (): FailureSetting => ({
    now: context.clock.now(),
    secrets: secretsOf(client),
    baseURL: client.baseURL,
  });
  const interrupted = (thrown: unknown): LlmOutcome => {
    if (context.signal.aborted) return failed(aborted, stream.decoded());
    // The answer is whole: only what would have followed it (a report of usage) is lost.
    if (stream.state.finished) return outcomeOfStream(stream.decoded(), stream.state, setting());
    if (idle.isOver()) return failed(idleFailure(call.idleTimeoutMs ?? 0), stream.decoded());
    return failed(failureOfThrown(thrown, setting()), stream.decoded());
  };
  const answered = async (): Promise<LlmOutcome> => {
    const response = await request(client, body, call, control.signal);
    idle.touch();
    if (response.redirected) return failed(followed(response, setting()), stream.decoded());
    const streams = isEventStream(response, body["stream"] === true);
    const rest = await read(response, streams ? stream : null, control.signal, idle.touch);
    // An aborted body may just end.
    if (control.signal.aborted) return interrupted(undefined);
    if (streams && stream.state.begun) return outcomeOfStream(stream.decoded(), stream.state, setting());
    return ofPlainBody(rest, deltas.onDelta, setting());
  };
  try {
    const outcome = await answered().catch(interrupted);
    deltas.end();
    return withoutSecrets(outcome, filter(), setting());
  } finally {
    idle.stop();
    context.signal.removeEventListener("abort", abort);
  }
};

/** Whatever a server sends may hold the key that it was sent. */
const withoutSecrets = (outcome: LlmOutcome, filter: KeyFilter, { secrets }: FailureSetting): LlmOutcome => {
  const filtered = filter.json(outcome);
  return filtered.type === "failed" || filtered.finishReason === null
    ? filtered
    : { ...filtered, finishReason: redact(filtered.finishReason, secrets) };
};

/** A `fetch` of the caller's own that follows redirects although it is asked not to. Nobody reads the body. */
const followed = (response: Response, setting: FailureSetting): Failure => {
  void response.body?.cancel().catch(() => {});
  return redirectFailure(response.status, response.url, setting);
};

/** The SDK makes the request; the response is taken as it is. */
const request = (client: OpenAI, body: JsonObject, call: CallLlm, signal: AbortSignal): Promise<Response> =>
  client
    .post("/chat/completions", {
      body,
      signal,
      maxRetries: 0,
      fetchOptions: { redirect: "manual" },
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

/**
 * Reads a body: into the stream, or whole where there is none. Returns the text of what no stream has understood,
 * so that a page or an error in place of the stream can be reported.
 */
const read = async (
  response: Response,
  stream: ChatStream | null,
  signal: AbortSignal,
  touch: () => void,
): Promise<string> => {
  if (response.body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      touch();
      stream?.feed(value);
      if (stream?.state.done === true) {
        letGo(reader);
        return "";
      }
      if (stream === null || (!stream.state.begun && keptBytes < keptBytesMax)) {
        kept.push(value);
        keptBytes += value.length;
        if (keptBytes > bodyBytesMax) throw new RangeError(`the server's answer is larger than ${bodyBytesMax} bytes`);
      }
    }
    stream?.end();
  } catch (thrown) {
    // Nobody reads on: the connection must not be left open.
    void reader.cancel().catch(() => {});
    throw thrown;
  }
  return new TextDecoder().decode(Buffer.concat(kept));
};

const keptBytesMax = 65_536;

/** Far more than any reply; an answer without an end must come to one. */
const bodyBytesMax = 2 ** 26;

/**
 * The answer is there; the end of the body comes right behind it. Reading it lets the connection be used again;
 * a server that keeps it open all the same is cut off.
 */
const letGo = (reader: ReadableStreamDefaultReader<Uint8Array>): void => {
  const cut = (): void => void reader.cancel().catch(() => {});
  const timer = setTimeout(cut, endOfBodyMs);
  void reader
    .read()
    .then(({ done }) => (done ? undefined : reader.cancel()))
    .catch(() => {})
    .finally(() => clearTimeout(timer));
};

const endOfBodyMs = 1000;

const ofPlainBody = (text: string, onDelta: LlmContext["onDelta"], setting: FailureSetting): LlmOutcome => {
  const chat = decodeChatBody(text);
  const outcome = chat === null ? null : outcomeOfBody(chat, setting);
  if (outcome === null) return { type: "failed", failure: failureOfBody(text, setting) };
  if (outcome.type === "completed") for (const delta of deltasOf(outcome.reply)) onDelta(delta);
  return outcome;
};

const pick = <Options extends object, Name extends keyof Options>(
  options: Options,
  names: { readonly [Each in Name]: true },
): Partial<Pick<Options, Name>> => {
  const picked: Partial<Pick<Options, Name>> = {};
  // A table of names has no others.
  for (const name of Object.keys(names) as Name[]) if (options[name] !== undefined) picked[name] = options[name];
  return picked;
};
