import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest, type LlmDelta } from "@colloquy/host";
import { type KeyFilter, keyFilter, type KeyPieces } from "@colloquy/host/runtime";
import {
  type CallLlm,
  ConfigurationError,
  type Failure,
  type ToolDeclaration,
  type FailureKind,
} from "@colloquy/machine";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessageChunk } from "@langchain/core/messages";
import { StreamedReply } from "./streamed-reply.ts";
import { toBaseMessages } from "./messages.ts";

/**
 * Makes a chat model of LangChain the model of a host; it streams if LangChain streams it. It is offered exactly the
 * tools of the call, by `bindTools`, and none for summaries. The call's parameters are passed unchanged, as call
 * options. An output is requested by a tool (`tool`), otherwise in the prompt.
 *
 * Never throws: an error is an outcome, classified by LangChain's name for it, by HTTP status, or as a failed
 * connection. The model's own secrets (`lc_secrets`) are removed from outcomes and pieces, however these are cut. The
 * machine retries, so make the model with `maxRetries: 0`.
 *
 * @throws ConfigurationError for a value that is not a chat model.
 */
export const langchainModel = (model: BaseChatModel): LlmHandler => {
  const taken: unknown = model;
  if (typeof taken !== "object" || taken === null || !("stream" in taken))
    throw new ConfigurationError(
      "langchainModel needs a chat model of LangChain, such as new ChatOpenAI({ maxRetries: 0 }); a name or a plain object is none",
    );
  const handler: LlmHandler = async (given, context) => {
    const filter = keyFilter(secretsOf(model));
    const pieces = filteredPieces(filter, context.onDelta);
    const shown: LlmContext = { ...context, onDelta: pieces.onDelta };
    // No option of LangChain asks all models for an output natively.
    const call =
      given.output?.mode === "native" ? { ...given, output: { ...given.output, mode: "prompted" as const } } : given;
    const asked = outputRequest(call, shown);
    const outcome = await perform(model, asked.call, asked.context);
    pieces.end();
    return asked.read(filter.json(outcome));
  };
  return Object.assign(handler, { secrets: () => secretsOf(model) });
};

const perform = async (model: BaseChatModel, call: CallLlm, context: LlmContext): Promise<LlmOutcome> => {
  const control = new AbortController();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  let stoppedBy: Failure | null = null;
  const stop = (failure: Failure): void => {
    stoppedBy ??= failure;
    control.abort();
    stopped.reject(new Error(failure.message));
  };
  const abort = (): void => stop(aborted);
  if (context.signal.aborted) abort();
  context.signal.addEventListener("abort", abort, { once: true });
  const silence = silenceTimer(call, context, stop);
  const reply = new StreamedReply(context.onDelta);
  try {
    control.signal.throwIfAborted();
    const options = { ...call.model, signal: control.signal };
    // A model may ignore its signal.
    const stream = await Promise.race([
      toolsBound(model, call, context.tools).stream(toBaseMessages(call.messages), options),
      stopped.promise,
    ]);
    const pieces = stream[Symbol.asyncIterator]();
    for (;;) {
      const piece = await Promise.race([pieces.next(), stopped.promise]);
      if (piece.done === true) return reply.outcome();
      if (carries(piece.value)) silence.touch();
      reply.add(piece.value);
    }
  } catch (thrown) {
    return { type: "failed", failure: stoppedBy ?? failureOf(thrown, context.clock.now()) };
  } finally {
    silence.end();
    context.signal.removeEventListener("abort", abort);
  }
};

const toolsBound = (model: BaseChatModel, call: CallLlm, tools: readonly ToolDeclaration[]) => {
  if (tools.length === 0) return model;
  if (model.bindTools === undefined)
    throw Object.assign(new Error(`${model.getName()} can't be offered tools: it has no bindTools`), { status: 400 });
  const wire = tools.map(({ name, description, parameters = { type: "object", properties: {} } }) => ({
    type: "function" as const,
    function: { name, parameters, ...(description === undefined ? {} : { description }) },
  }));
  return model.bindTools(wire, call.output?.mode === "tool" ? { tool_choice: "any" } : undefined);
};

/** Returns whether a piece has content; some servers send empty ones to keep a connection open. */
const carries = ({ content, additional_kwargs: more, tool_calls: calls = [], ...rest }: AIMessageChunk): boolean =>
  content.length > 0 || calls.length > 0 || (rest.tool_call_chunks ?? []).length > 0 || Object.keys(more).length > 0;

/** Stops the call after the longest silence that it allows. */
const silenceTimer = (
  { idleTimeoutMs: idleMs }: CallLlm,
  { clock }: LlmContext,
  stop: (failure: Failure) => void,
): { readonly touch: () => void; readonly end: () => void } => {
  let end = (): void => {};
  const touch = (): void => {
    end();
    if (idleMs !== undefined) end = clock.wakeAt(clock.now() + idleMs, () => stop(idle(idleMs)));
  };
  touch();
  return { touch, end: () => end() };
};

/** Returns the fields of a model that LangChain knows to be secret (`lc_secrets`). */
const secretsOf = (model: BaseChatModel): readonly string[] =>
  Object.keys(model.lc_secrets ?? {})
    .map((field): unknown => Reflect.get(model, field) ?? model.lc_kwargs[field])
    .filter((secret) => typeof secret === "string");

/** Shows pieces without keys, however these are cut. `end` shows the ends of texts that were held back. */
const filteredPieces = (filter: KeyFilter, show: LlmContext["onDelta"]) => {
  const texts = new Map<string, { readonly pieces: KeyPieces; readonly last: LlmDelta }>();
  const showText = (last: LlmDelta, text: string): void => {
    if (last.type === "toolCall") show({ ...last, arguments: text });
    else if (text !== "") show({ ...last, text });
  };
  return {
    onDelta: (delta: LlmDelta): void => {
      const place = delta.type === "toolCall" ? `call ${delta.index}` : delta.type;
      const last = filter.json(delta);
      const { pieces } = texts.get(place) ?? { pieces: filter.pieces() };
      texts.set(place, { pieces, last });
      showText(last, pieces.push(delta.type === "toolCall" ? delta.arguments : delta.text));
    },
    end: (): void => {
      for (const { pieces, last } of texts.values()) {
        const text = pieces.end();
        if (text !== "") showText(last, text);
      }
      texts.clear();
    },
  };
};

const aborted: Failure = { kind: "unknown", message: "the call was aborted", retryable: false, code: "aborted" };

const idle = (idleMs: number): Failure => ({
  kind: "timeout",
  message: `the model was silent for more than ${idleMs} ms`,
  retryable: true,
});

/**
 * Converts an error of a LangChain model to a failure: by LangChain's name for it, by the HTTP status from the
 * provider's client, or by the errors of connections. 429 is retryable unless the account has no money left.
 */
const failureOf = (thrown: unknown, now: number): Failure => {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const status = [
    member(thrown, "status"),
    member(thrown, "statusCode"),
    member(member(thrown, "response"), "status"),
  ].find((value) => typeof value === "number");
  const code = member(thrown, "code") ?? member(thrown, "lc_error_code");
  const wait = retryAfter(member(thrown, "headers") ?? member(member(thrown, "response"), "headers"), now);
  const [kind, retryable] = kindOf(`${String(member(thrown, "name"))} ${String(code)} ${message}`, status);
  return {
    kind,
    message,
    retryable,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(status === undefined ? {} : { status }),
    ...(typeof code === "string" ? { code } : {}),
  };
};

const kindOf = (words: string, status: number | undefined): readonly [FailureKind, boolean] => {
  if (/ContextOverflow|CONTEXT_OVERFLOW|context.{0,9}(length|window)|prompt is too long/i.test(words))
    return ["context_length", false];
  if (/content.?filter|ModelRefusalError/i.test(words)) return ["content_filter", false];
  if (/insufficient_quota|\bbilling\b/i.test(words)) return ["rate_limit", false];
  const byStatus = status === undefined ? undefined : statuses.find(([pattern]) => pattern.test(String(status)));
  if (byStatus !== undefined) return [byStatus[1], byStatus[2]];
  if (/^(TimeoutError|APIConnectionTimeoutError)|ETIMEDOUT/.test(words)) return ["timeout", true];
  if (/^APIConnectionError|fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|socket hang up/.test(words))
    return ["network", true];
  if (/MODEL_AUTHENTICATION|api key/i.test(words)) return ["auth", false];
  if (words.includes("MODEL_RATE_LIMIT")) return ["rate_limit", true];
  return ["unknown", false];
};

const statuses: readonly (readonly [RegExp, FailureKind, boolean])[] = [
  [/^(401|403)$/, "auth", false],
  [/^402$/, "rate_limit", false],
  [/^(408|504|524)$/, "timeout", true],
  [/^429$/, "rate_limit", true],
  [/^(498|503|529)$/, "overloaded", true],
  [/^(409|425|5\d\d)$/, "unknown", true],
  [/^4\d\d$/, "bad_request", false],
];

/** Clients keep headers as `Headers`, or as an object. */
const retryAfter = (headers: unknown, now: number): number | undefined => {
  const get = member(headers, "get");
  const given: unknown = typeof get === "function" ? get.call(headers, "retry-after") : member(headers, "retry-after");
  if (typeof given !== "string" || given.trim() === "") return undefined;
  const ms = Number.isNaN(Number(given)) ? Date.parse(given) - now : Number(given) * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms));
};

/** Returns a member of any value. */
const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
