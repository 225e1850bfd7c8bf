import type { LlmOutcome } from "@colloquy/host";
import { redact } from "@colloquy/host/runtime";
import type { Failure, FailureKind, Json } from "@colloquy/machine";
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai/core/error";
import { parseJson } from "../json/loose-json.ts";
import { errorFacts, type ErrorFacts, redirectFailure, retryAfterMs } from "./response-facts.ts";

/** What classifying needs beside the error itself. */
export interface FailureSetting {
  /** The present time, for a `retry-after` that is a date. Milliseconds since the epoch. */
  readonly now: number;
  /** Texts that must not stand in a message, such as the key of the client. */
  readonly secrets?: readonly string[];
  /** Where requests go, for a redirect to a path of the same host. */
  readonly baseURL?: string;
}

/** What a response with an error status is read for. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers?: { get(name: string): string | null };
  /** The parsed body, the `error` in it, or the text of a body that is not JSON. */
  readonly error: unknown;
}

/**
 * The failure that an error response is.
 *
 * The status decides, but for what has a name of its own whatever the status: a prompt that does not fit, content
 * that was filtered, a server that says it is overloaded. 429 is retryable unless money ran out or the request
 * is larger than the limit, since neither ends by waiting. The server's own word (`x-should-retry`) overrides whether to
 * retry, but for a redirect, which is never followed.
 */
export const failureOfResponse = (response: ErrorResponse, setting: FailureSetting): Failure => {
  if (response.status >= 300 && response.status < 400)
    return redirectFailure(response.status, response.headers?.get("location") ?? null, setting);
  const facts = errorFacts(response.error, response.status);
  const wait = response.headers === undefined ? undefined : retryAfterMs(response.headers, setting.now);
  const advice = response.headers?.get("x-should-retry");
  const failure = failureOfFacts(facts, setting);
  return {
    ...failure,
    retryable: advice === "true" || (advice !== "false" && failure.retryable),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
};

/**
 * The failure that an error object is which came in place of an answer, or in the middle of one. Where it names no
 * status and nothing else says it, it is unknown and retryable: the server had begun to answer.
 */
export const failureOfErrorObject = (error: Json, setting: FailureSetting): Failure =>
  failureOfFacts(errorFacts(error), setting);

/**
 * The failure of a response that says all is well and holds no answer. HTML means the wrong address, and is not
 * retryable; an empty body, or one that breaks off, is truncated; anything else is unknown.
 */
export const failureOfBody = (body: string, setting: FailureSetting): Failure => {
  const text = withoutFrame(body.trim());
  if (text === "") return retryable("truncated", "the server's answer was empty");
  if (/^<(!doctype|html|\?xml|head|body)/i.test(text)) {
    return {
      kind: "unknown",
      retryable: false,
      message: `the server answered with a page, not with JSON; check the base URL: ${shortened(text, setting)}`,
    };
  }
  const value = parseJson(text);
  if (value === undefined && /^[[{]/.test(text))
    return retryable("truncated", `the server's answer breaks off: ${shortened(text, setting)}`);
  // Written anew, for a key is not to be found behind escapes.
  const shown = shortened(value === undefined ? text : JSON.stringify(value), setting);
  return retryable("unknown", `the server's answer holds no reply: ${shown}`);
};

/** A stream that broke off in its first event is half a body too, and one of comments alone is empty. */
const withoutFrame = (body: string): string =>
  /^(:|event:|data:)/.test(body) ? body.replaceAll(/^(:|event:).*$|^data:/gm, "").trim() : body;

/** The failure that something thrown by the SDK, or by `fetch` while a body was read, is. */
export const failureOfThrown = (thrown: unknown, setting: FailureSetting): Failure => {
  if (thrown instanceof APIUserAbortError || (thrown instanceof Error && thrown.name === "AbortError")) return aborted;
  if (thrown instanceof APIConnectionTimeoutError || timeoutCode.test(codeOf(thrown)))
    return retryable("timeout", "the server did not answer in time");
  if (thrown instanceof APIConnectionError || (thrown instanceof TypeError && isNetwork(thrown)))
    return retryable("network", `the connection failed: ${redact(rootOf(thrown), setting.secrets)}`);
  if (thrown instanceof APIError) return failureOfResponse(responseOf(thrown), setting);
  return { kind: "unknown", retryable: false, message: shortened(rootOf(thrown), setting) };
};

/** Nothing was sent, since the call asks for what can't be had. */
export const badRequest = (message: string): LlmOutcome => ({
  type: "failed",
  failure: { kind: "bad_request", message, retryable: false },
});

/** The call was cancelled. */
export const aborted: Failure = { kind: "unknown", retryable: false, message: "the call was aborted", code: "aborted" };

/** Another try may do. */
export const retryable = (kind: FailureKind, message: string): Failure => ({ kind, retryable: true, message });

/** The SDK keeps the `error` of a body, or, of a body that is not JSON, the text in its own message, behind the status. */
const responseOf = (thrown: StatusError): ErrorResponse => {
  const { status = 0, headers, error, message } = thrown;
  const text = message.replace(/^\d{3} (status code \(no body\)$)?/, "");
  return { status, ...(headers === undefined ? {} : { headers }), error: error ?? text };
};

/** Whether the SDK threw it for an answer with an error status. */
export const isStatusError = (thrown: unknown): boolean => thrown instanceof APIError && thrown.status !== undefined;

type StatusError = APIError<number | undefined, Headers | undefined, object | undefined>;

const failureOfFacts = (facts: ErrorFacts, setting: FailureSetting): Failure => {
  const [kind, retryable] = kindOf(facts);
  return {
    kind,
    retryable,
    message: shortened(facts.message, setting),
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(facts.code === undefined ? {} : { code: redact(facts.code, setting.secrets) }),
  };
};

type Verdict = readonly [kind: FailureKind, retryable: boolean];

const kindOf = (facts: ErrorFacts): Verdict => {
  const { status = 0, message, words } = facts;
  const mayBeContent = status !== 401 && status !== 429;
  if (mayBeContent && (filteredWords.test(words) || filteredMessage.test(message))) return ["content_filter", false];
  if (mayBeContent && isTooLong(facts)) return ["context_length", false];
  if (quotaWords.test(words)) return ["rate_limit", false];
  if (status < 500 && status !== 429 && (keyWords.test(words) || keyMessage.test(message))) return ["auth", false];
  if (badReplyWords.test(words) || badReplyMessage.test(message)) return ["unknown", true];
  if (
    (status === 0 || status === 429 || status >= 500) &&
    (/overloaded/i.test(words) || /\boverloaded\b/i.test(message))
  ) {
    return ["overloaded", true];
  }
  return kindOfStatus(status, message) ?? kindOfWords(words);
};

const kindOfStatus = (status: number, message: string): Verdict | undefined => {
  if (status === 429) return ["rate_limit", !tooLargeMessage.test(message)];
  const known = kindsOfStatus.get(status);
  if (known !== undefined || status < 400) return known;
  return status >= 500 ? ["unknown", true] : ["bad_request", false];
};

const kindsOfStatus: ReadonlyMap<number, Verdict> = new Map([
  [401, ["auth", false]],
  [402, ["rate_limit", false]],
  [403, ["auth", false]],
  [408, ["timeout", true]],
  [409, ["unknown", true]],
  // Bedrock's for a model that failed.
  [424, ["unknown", true]],
  [425, ["unknown", true]],
  [498, ["overloaded", true]],
  [503, ["overloaded", true]],
  [504, ["timeout", true]],
  [524, ["timeout", true]],
  [529, ["overloaded", true]],
]);

const kindOfWords = (words: string): Verdict =>
  kindsOfWords.find(([pattern]) => pattern.test(words))?.[1] ?? ["unknown", true];

const kindsOfWords: readonly (readonly [RegExp, Verdict])[] = [
  [/rate_?limit|too_?many_?requests|resource_?exhausted/i, ["rate_limit", true]],
  [/auth|api_?key|permission/i, ["auth", false]],
  [/time_?out|deadline/i, ["timeout", true]],
  [/unavailable/i, ["overloaded", true]],
  [/invalid|not_?found|unsupported|bad_?request|missing/i, ["bad_request", false]],
];

const filteredWords = /content_?filter|content_?policy|ResponsibleAI|moderation|PROHIBITED_CONTENT/i;
const filteredMessage = /content management policy|content policy|content filter|\b(was|were|been) flagged\b/i;
/** What a server allows in a minute is no matter of the window. */
const isTooLong = ({ status, words, message }: ErrorFacts): boolean =>
  status === 413 ||
  contextWords.test(words) ||
  (!/\bper (minute|min|hour|day)\b/i.test(message) && contextMessages.some((pattern) => pattern.test(message)));

/** `exceed_context_size_error` is llama.cpp's, `tokens_limit_reached` GitHub Models', `model_max_prompt_tokens_exceeded` Copilot's. */
const contextWords =
  /context_?(length|window|size)|prompt_too_long|request_too_large|tokens_limit_reached|max_prompt_tokens/i;

/** How servers say that a prompt does not fit. */
const contextMessages: readonly RegExp[] = [
  // OpenAI, DeepSeek, Mistral, vLLM, Groq, OpenRouter, LM Studio, Fireworks, Together, SGLang; xAI
  /maximum (context|prompt|model) length|context[ _-](length|window)/i,
  // llama.cpp ("exceeds the available context size"), Ollama, Anthropic ("exceed context limit")
  /exceed\w*.{0,30}\bcontext\b/i,
  // Anthropic, Bedrock ("Input is too long for requested model"), Ollama ("prompt too long"), llama.cpp ("input is too large")
  /\b(prompt|input|request|conversation)( is| was)? too (long|large)\b/i,
  // Gemini and Vertex ("exceeds the maximum", "only supports up to"), Copilot, watsonx, Bedrock Nova, Zhipu
  /\b(tokens?( count)?|input length|prompt)\b.{0,60}\b(exceed(s|ed)?|supports up to)\b.{0,40}(\bmax|\blimit|\blength|\d)/i,
  // Groq and Cerebras ("reduce the length"); Moonshot; Text Generation Inference; DashScope
  /reduce the length of (the|your) (messages|prompt|input)|exceeded model token limit|range of input length should be/i,
  /`inputs` (tokens \+ `max_new_tokens`|must have less than)/i,
  // Cohere ("too many tokens: total number of tokens in the prompt cannot exceed")
  /\btoo many (input |prompt )?tokens\b(?! per)/i,
];

/** Gemini and xAI answer 400 to a wrong key. */
const keyWords =
  /api_?key_?(invalid|expired)|invalid_?(api_?key|authentication)|authentication_?error|unauthenticated/i;
const keyMessage =
  /\b(api[ _-]?key|access token|authorization header|credentials?)\b.{0,40}\b(not valid|not found|invalid|incorrect|expired|missing|malformed|revoked|required)\b|\b(invalid|incorrect|missing|expired|malformed|no|wrong)( or (invalid|missing))?\b.{0,20}\b(api[ _-]?key|access token|authorization header)\b/i;

/**
 * The model wrote a call or an output that the server could not read, and another try may do: Groq (`tool_use_failed`,
 * `json_validate_failed`, `output_parse_failed`), Bedrock ("Model produced invalid sequence as part of ToolUse").
 */
const badReplyWords = /tool_use_failed|json_validate_failed|output_parse_failed|ModelErrorException/i;
const badReplyMessage =
  /failed to (call a function|generate JSON)|tool call validation failed|model produced invalid sequence|parsing failed\. the model generated output/i;

const quotaWords = /insufficient_?(quota|balance|credits|funds)|billing|quota_?exceeded_?error|credit_?balance/i;
const tooLargeMessage = /request too large/i;

const shortened = (text: string, { secrets }: Pick<FailureSetting, "secrets">): string => {
  // Redacted before it is cut, lest half a key be left that looks like none.
  const redacted = redact(text, secrets).replaceAll(/\s+/g, " ");
  return redacted.length > messageLength ? `${redacted.slice(0, messageLength)}…` : redacted;
};

const messageLength = 500;

const timeoutCode = /^(UND_ERR_(BODY|HEADERS|CONNECT)_TIMEOUT|ETIMEDOUT)$/;

const isNetwork = (thrown: TypeError): boolean =>
  thrown.cause !== undefined || /terminated|fetch failed|network/i.test(thrown.message);

/** The code of the innermost cause. */
const codeOf = (thrown: unknown): string => {
  const cause = innermost(thrown);
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
};

/** What went wrong in the end: `fetch` wraps a refused connection twice. */
const rootOf = (thrown: unknown): string => {
  const cause = innermost(thrown);
  if (!(cause instanceof Error)) return String(cause);
  return [codeOf(cause), cause.message].filter((text) => text !== "").join(" ");
};

const innermost = (thrown: unknown): unknown => {
  let cause = thrown;
  for (let depth = 0; depth < 5 && cause instanceof Error && cause.cause !== undefined; depth++) cause = cause.cause;
  return cause;
};
