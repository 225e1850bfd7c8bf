import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest, type LlmDelta } from "@colloquy/host";
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
 * A chat model of LangChain as the model of a host: streamed where it streams. It is offered exactly the tools of the call, by
 * `bindTools`, and none for summaries; the call's parameters go as call options, as they are. An output that the call wants
 * is asked for by a tool (`tool`), else in words.
 *
 * Never throws: what goes wrong is an outcome, classified by LangChain's name of it, by HTTP status, or as a failed connection.
 * The model's own secrets (`lc_secrets`) are taken out of outcomes and pieces, however these are cut. The machine
 * retries, so make the model with `maxRetries: 0`.
 *
 * @throws ConfigurationError for what is no chat model.
 */
export const langchainModel = (model: BaseChatModel): LlmHandler => {
  const taken: unknown = model;
  if (typeof taken !== "object" || taken === null || !("stream" in taken))
    throw new ConfigurationError(
      "langchainModel needs a chat model of LangChain, such as new ChatOpenAI({ maxRetries: 0 }); a name or a plain object is none",
    );
  const handler: LlmHandler = async (given, context) => {
    const secrets = secretsOf(model);
    const pieces = piecesWithoutSecrets(secrets, context.onDelta);
    const shown: LlmContext = { ...context, onDelta: pieces.onDelta };
    // No option of LangChain asks all models for an output natively.
    const call =
      given.output?.mode === "native" ? { ...given, output: { ...given.output, mode: "prompted" as const } } : given;
    const asked = outputRequest(call, shown);
    const outcome = await perform(model, asked.call, asked.context);
    pieces.end();
    return asked.read(withoutSecrets(secrets, outcome));
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
    // A model that does not mind its signal is not waited for.
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

/** Whether a piece has anything of an answer: some servers send empty ones to keep a connection open. */
const carries = ({ content, additional_kwargs: more, tool_calls: calls = [], ...rest }: AIMessageChunk): boolean =>
  content.length > 0 || calls.length > 0 || (rest.tool_call_chunks ?? []).length > 0 || Object.keys(more).length > 0;

/** Stops the call when nothing came for as long as it allows. */
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

/** What LangChain knows to be secret of a model (`lc_secrets`). Shorter ones would be found in ordinary words. */
const secretsOf = (model: BaseChatModel): readonly string[] =>
  Object.keys(model.lc_secrets ?? {})
    .map((field): unknown => Reflect.get(model, field) ?? model.lc_kwargs[field])
    .filter((secret) => typeof secret === "string")
    .filter((secret) => secret.length >= shortestSecret);

const shortestSecret = 8;

/** Plain JSON with its texts without secrets. */
const withoutSecrets = <Value>(secrets: readonly string[], value: Value): Value => {
  const cleaned = (each: unknown): unknown => {
    if (typeof each === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, "[redacted]"), each);
    if (Array.isArray(each)) return each.map(cleaned);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, cleaned(member)]));
  };
  // Only texts within it are others.
  return cleaned(value) as Value;
};

/**
 * Shows pieces without secrets, also those that are cut apart: what may begin one is held back until more of the same
 * text has come. `end` shows what is held back then.
 */
const piecesWithoutSecrets = (
  secrets: readonly string[],
  show: (delta: LlmDelta) => void,
): { readonly onDelta: (delta: LlmDelta) => void; readonly end: () => void } => {
  const held = new Map<string, { readonly delta: LlmDelta; readonly text: string }>();
  return {
    onDelta: (given) => {
      const place = given.type === "toolCall" ? `call ${given.index}` : given.type;
      const text = (held.get(place)?.text ?? "") + textOf(given);
      const delta = withoutSecrets(secrets, withText(given, text));
      const whole = textOf(delta);
      const shown = whole.length - beginningAtEnd(secrets, whole);
      held.set(place, { delta, text: whole.slice(shown) });
      if (shown > 0 || delta.type === "toolCall") show(withText(delta, whole.slice(0, shown)));
    },
    end: () => {
      for (const { delta, text } of held.values()) if (text !== "") show(withText(delta, text));
      held.clear();
    },
  };
};

/** How much of the end of a text may begin a secret. */
const beginningAtEnd = (secrets: readonly string[], text: string): number => {
  const longest = Math.max(0, ...secrets.map(({ length }) => length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (secrets.some((secret) => secret.startsWith(text.slice(-length)))) return length;
  return 0;
};

const textOf = (delta: LlmDelta): string => (delta.type === "toolCall" ? delta.arguments : delta.text);

const withText = (delta: LlmDelta, text: string): LlmDelta =>
  delta.type === "toolCall" ? { ...delta, arguments: text } : { ...delta, text };

/** The call was cancelled. */
const aborted: Failure = { kind: "unknown", message: "the call was aborted", retryable: false, code: "aborted" };

/** Nothing came for longer than was allowed. */
const idle = (idleMs: number): Failure => ({
  kind: "timeout",
  message: `the model was silent for more than ${idleMs} ms`,
  retryable: true,
});

/**
 * The failure that something is which a model of LangChain threw: by the name that LangChain gives it, else by the HTTP status that
 * the client of its provider left on it, else by what connections fail with. 429 is retryable unless money ran out.
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

/** A member of what may be anything. */
const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
