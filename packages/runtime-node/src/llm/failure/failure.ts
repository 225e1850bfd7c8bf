import type { LlmOutcome } from "@colloquy/host";
import { redact } from "@colloquy/host/runtime";
import type { Failure, FailureKind, Json } from "@colloquy/machine";
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai/core/error";
import { defined, isObject, parseJson } from "../json/loose-json.ts";
import {
  errorFacts,
  type ErrorFacts,
  isBareError,
  isError,
  redirectFailure,
  retryAfterMs,
  withoutFrame,
} from "./response-facts.ts";

/** The facts beside an error that classify it. */
export interface FailureSetting {
  /** The present time, for a `retry-after` that is a date. Milliseconds since the epoch. */
  readonly now: number;
  /** Texts that no message may show, such as the key of the client. */
  readonly secrets?: readonly string[];
  /** Where requests go, for a redirect to a path of the same host. */
  readonly baseURL?: string;
}

/** The parts of a response with an error status that are read. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers?: { get(name: string): string | null };
  /** The parsed body, the `error` in it, or the text of a body that is not JSON. */
  readonly error: unknown;
}

/**
 * Returns the failure of an error response.
 *
 * The status decides, unless the error names its kind: a prompt that does not fit, filtered content, an overloaded server. 429
 * is retryable unless money ran out or the request is larger than the limit, since neither ends by waiting. The server's own
 * word (`x-should-retry`) overrides whether to retry, except for a redirect, which is never followed.
 */
export const failureOfResponse = (response: ErrorResponse, setting: FailureSetting): Failure => {
  const { status, headers, error } = response;
  if (status >= 300 && status < 400) return redirectFailure(status, headers?.get("location") ?? null, setting);
  const failure = failureOfFacts(errorFacts(error, status), setting);
  const advice = headers?.get("x-should-retry");
  return {
    ...failure,
    retryable: advice === "true" || (advice !== "false" && failure.retryable),
    ...defined({ retryAfterMs: headers && retryAfterMs(headers, setting.now) }),
  };
};

/**
 * Returns the failure of an error object that came in place of an answer, or in the middle of one. If nothing in it says more,
 * it is unknown and retryable: the server had begun to answer.
 */
export const failureOfErrorObject = (error: Json, setting: FailureSetting): Failure =>
  failureOfFacts(errorFacts(error), setting);

/**
 * Returns the failure of a response with a good status and no answer. HTML means the wrong address, and is not retryable; a
 * body that is empty or breaks off is truncated; anything else is unknown.
 */
export const failureOfBody = (body: string, setting: FailureSetting): Failure => {
  const text = withoutFrame(body.trim());
  if (text === "") return retryable("truncated", "the server's answer was empty");
  if (/^<(!doctype|html|\?xml|head|body)/i.test(text)) {
    const message = `the server answered with a page, not with JSON; check the base URL: ${shortened(text, setting)}`;
    return { kind: "unknown", retryable: false, message };
  }
  const value = parseJson(text);
  if (value === undefined && /^[[{]/.test(text))
    return retryable("truncated", `the server's answer breaks off: ${shortened(text, setting)}`);
  if (isObject(value) && (isError(value["error"]) || isBareError(value))) return failureOfErrorObject(value, setting);
  // Serialised again, since escapes may hide a key.
  const shown = shortened(value === undefined ? text : JSON.stringify(value), setting);
  return retryable("unknown", `the server's answer holds no reply: ${shown}`);
};

/** Returns the failure of an error that the SDK threw, or `fetch` while a body was read. */
export const failureOfThrown = (thrown: unknown, setting: FailureSetting): Failure => {
  if (thrown instanceof APIUserAbortError || (thrown instanceof Error && thrown.name === "AbortError")) return aborted;
  if (thrown instanceof APIConnectionTimeoutError || timeoutCode.test(codeOf(innermost(thrown))))
    return retryable("timeout", "the server did not answer in time");
  if (thrown instanceof APIConnectionError || (thrown instanceof TypeError && isNetwork(thrown)))
    return retryable("network", `the connection failed: ${redact(rootOf(thrown), setting.secrets)}`);
  if (thrown instanceof APIError) return failureOfResponse(responseOf(thrown), setting);
  return { kind: "unknown", retryable: false, message: shortened(rootOf(thrown), setting) };
};

/** The SDK keeps the `error` of a body, or the text of a body that is not JSON, in its own message after the status. */
const responseOf = ({ status = 0, headers, error, message }: StatusError): ErrorResponse => {
  const text = message.replace(/^\d{3} (status code \(no body\)$)?/, "");
  return { status, ...defined({ headers }), error: error ?? text };
};

/** Refuses a call, whose request was not sent. */
export const badRequest = (message: string): LlmOutcome => ({
  type: "failed",
  failure: { kind: "bad_request", message, retryable: false },
});

/** The call was cancelled. */
export const aborted: Failure = { kind: "unknown", retryable: false, message: "the call was aborted", code: "aborted" };

export const retryable = (kind: FailureKind, message: string): Failure => ({ kind, retryable: true, message });

/** Whether the SDK threw it for an answer with an error status. */
export const isStatusError = (thrown: unknown): boolean => thrown instanceof APIError && thrown.status !== undefined;

type StatusError = APIError<number | undefined, Headers | undefined, object | undefined>;

const failureOfFacts = (facts: ErrorFacts, setting: FailureSetting): Failure => {
  const [kind, again] = kindOf(facts);
  const { status, message, waitMs } = facts;
  const code = facts.code && redact(facts.code, setting.secrets);
  const wait = again ? waitMs : undefined;
  const hint = kind === "bad_request" && wrongAddress.test(message) ? "; check the base URL" : "";
  return {
    kind,
    retryable: again,
    message: shortened(message, setting) + hint,
    ...defined({ status, code, retryAfterMs: wait }),
  };
};

type Verdict = readonly [kind: FailureKind, retryable: boolean];

const kindOf = ({ status = 0, message, words }: ErrorFacts): Verdict =>
  named.find((each) => each.at(status) && (each.code.test(`${status} ${words}`) || each.message.test(message)))
    ?.verdict ??
  kindOfStatus(status, message) ??
  kindsOfWords.find(([pattern]) => pattern.test(words))?.[1] ?? ["unknown", true];

const kindOfStatus = (status: number, message: string): Verdict | undefined => {
  if (status === 429) return ["rate_limit", !/request too large/i.test(message)];
  const known = kindsOfStatus.find(({ statuses }) => statuses.includes(status))?.verdict;
  if (known !== undefined || status < 400) return known;
  return status >= 500 ? ["unknown", true] : ["bad_request", false];
};

/** 424 is Bedrock's for a model that failed. */
const kindsOfStatus: readonly { readonly statuses: readonly number[]; readonly verdict: Verdict }[] = [
  { statuses: [401, 403], verdict: ["auth", false] },
  { statuses: [402], verdict: ["rate_limit", false] },
  { statuses: [408, 504, 524], verdict: ["timeout", true] },
  { statuses: [409, 424, 425], verdict: ["unknown", true] },
  { statuses: [498, 503, 529], verdict: ["overloaded", true] },
];

const rateWords = /rate_?limit|too_?many_?requests|resource_?exhausted|throttling/i;

const kindsOfWords: readonly (readonly [RegExp, Verdict])[] = [
  [rateWords, ["rate_limit", true]],
  [/auth|api_?key|permission/i, ["auth", false]],
  [/time_?out|deadline/i, ["timeout", true]],
  [/unavailable/i, ["overloaded", true]],
  [/invalid|not_?found|unsupported|bad_?request|missing/i, ["bad_request", false]],
];

const mayBeContent = (status: number): boolean => status !== 401 && status !== 429;

const mayPass = (status: number): boolean => status === 0 || status === 429 || status >= 500;

const fullMessages: readonly RegExp[] = [
  // OpenAI, DeepSeek, Mistral, vLLM, Groq, OpenRouter, LM Studio, Fireworks, Together, SGLang; xAI; LiteLLM ("ContextWindowExceeded")
  /maximum (context|prompt|model) length|context[ _-]?(length|window)|context size (is|of)\b/i,
  // llama.cpp ("exceeds the available context size"), Ollama, Anthropic ("exceed context limit"); not Go's of a time that ran out
  /exceed\w*.{0,30}\bcontext\b(?! (cancel|deadline))|context size\b.{0,20}\bexceed|context shift is disabled/i,
  // Anthropic, Bedrock ("Input is too long for requested model"), Ollama ("prompt too long"), llama.cpp ("input is too large"), Cohere, UCloud
  /\b(prompt|input|request|conversation|message length|(prompt|input) tokens|messages'?)( is| was| are)? too (long|large)\b/i,
  // OpenAI, of one message, and of more than 2,048
  /'(messages|input)(\[\d+\]\.(content|output)\S*)?': (string|array) too long/,
  // LMDeploy, TabbyAPI; vLLM, of the room that the prompt leaves for a reply
  /\b(session_len|max_seq_len|max_model_len)\b|max_\w*tokens\b.{0,20}\bmust be at least 1, got -/i,
  // Gemini and Vertex ("exceeds the maximum", "only supports up to"), Copilot, watsonx, Bedrock Nova, Zhipu, Tencent ("more than")
  /\b(tokens?( count)?|input length|prompt)\b.{0,60}\b(exceed(s|ed)?|supports up to|(more|longer) than)\b.{0,40}(\bmax|\blimit|\blength|\d)/i,
  // Groq and Cerebras ("reduce the length"); Moonshot; Text Generation Inference; DashScope
  /(reduce the length of|shorten) (the|your) (messages|prompt|input)|exceeded model token limit|range of input length should be/i,
  /\binputs`? (tokens \+ `?max_new_tokens|must have less than)/i,
  // Zhipu ("Prompt 超长"), gateways in China; not of one image
  /(上下文|输入|提示词|\bprompt|(?<!max )\btokens?)[^图]{0,20}(超长|过长|太长|超过|超出)|(超过|超出).{0,12}上下文/i,
  // Cohere ("too many tokens: total number of tokens in the prompt cannot exceed")
  /\btoo many (input |prompt )?tokens\b(?! per)/i,
];

/**
 * The server knows no such path: Ollama ("404 page not found"), FastAPI, Azure, OpenAI ("Invalid URL (POST /v1/v1/…"; others say
 * so of images), Express; LM Studio with status 200.
 */
const wrongAddress =
  /^(\d{3} )?(((page|resource) )?not found|method not allowed)\b(?!.*\bmodel)|^invalid url \(|^unexpected endpoint\b|^cannot post \//i;

/** The kinds that an error names by its codes, behind its status, or by its message. The first match counts. */
const named: readonly {
  readonly verdict: Verdict;
  /** The statuses that the error may have; 0 for none. */
  readonly at: (status: number) => boolean;
  readonly code: RegExp;
  readonly message: Pick<RegExp, "test">;
}[] = [
  {
    verdict: ["content_filter", false],
    at: mayBeContent,
    // DashScope has `data_inspection_failed`, Volcengine `SensitiveContentDetected`.
    code: /content_?filter|content_?policy|ResponsibleAI|moderation|PROHIBITED_CONTENT|data_?inspection|sensitive_?content/i,
    // DashScope, DeepSeek ("Content Exists Risk"), xAI ("Content violates usage guidelines"), Zhipu and gateways in China.
    message:
      /content (management )?policy|content filter|\b(was|were|been) flagged\b|inappropriate content|content exists risk|violates usage guidelines|^safety_check|\bunsafe or sensitive\b|敏感|不安全/i,
  },
  {
    verdict: ["context_length", false],
    at: mayBeContent,
    // `exceed_context_size_error` is llama.cpp's, `tokens_limit_reached` GitHub Models', `model_max_prompt_tokens_exceeded` Copilot's.
    code: /^413 |context_?(length|window|size)|prompt_too_long|request_too_large|tokens_limit_reached|max_prompt_tokens/i,
    message: {
      // A limit of a minute does not bound the window. Bedrock throttles with "Too many tokens, please wait before trying again."
      test: (text) =>
        !/\bper (minute|min|hour|day)\b|throttling|please wait/i.test(text) &&
        fullMessages.some((each) => each.test(text)),
    },
  },
  {
    // Waiting does not end it.
    verdict: ["rate_limit", false],
    at: () => true,
    // Moonshot has `exceeded_current_quota_error`, DashScope `Arrearage`, Volcengine `AccountOverdueError`.
    code: /insufficient_?(user_?)?(quota|balance|credits|funds)|billing|quota_?(exceeded_?)?error|credit_?balance|arrear|overdue/i,
    // DeepSeek, SiliconFlow, Anthropic ("reached your specified API usage limits"), xAI, OpenRouter ("Key limit exceeded"), Zhipu, One API.
    message:
      /insufficient (account )?(balance|credits|funds)|balance is (too low|insufficient)|\boverdue balance|used all available credits|exhausted (its|your)\b|reached (its|your) .{0,20}(spending|usage) limits?|\busage limit (reached|exceeded)|^key limit exceeded|余额不足|欠费|额度.{0,3}(不足|用尽|用完)/i,
  },
  {
    // Gemini, xAI, LiteLLM, Zhipu and Bedrock answer 400 to a wrong key.
    verdict: ["auth", false],
    at: (status) => status < 500 && status !== 429,
    code: /api_?key_?(invalid|expired)|invalid_?(api_?key|authentication)|authentication_?error|unauthenticated/i,
    message:
      /\b(api[ _-]?key|access token|security token|authorization header|credentials?)\b.{0,40}\b(not valid|not found|invalid|incorrect|expired|missing|malformed|revoked|required)\b|\b(invalid|incorrect|missing|expired|malformed|no|wrong)( or (invalid|missing))?\b.{0,20}\b(api[ _-]?key|access token|subscription key|authorization header|credentials)\b|\bauthentication ?(error|fail)|\btoken (has |is )?expired\b|^(401 )?unauthorized\b|无效的令牌|令牌(无效|已过期)|(身份验证|鉴权|认证)失败|key.{0,6}(无效|错误|不正确|过期)/i,
  },
  {
    // The model wrote a call or an output that the server could not read, and another try may do: Groq (`tool_use_failed`,
    // `json_validate_failed`, `output_parse_failed`), Cerebras ("Failed to generate tool_calls"), Ollama ("error parsing tool
    // call"), Bedrock ("Model produced invalid sequence as part of ToolUse").
    verdict: ["unknown", true],
    at: () => true,
    code: /tool_use_failed|json_validate_failed|output_parse_failed|ModelErrorException/i,
    message:
      /failed to (call a function|generate (JSON|tool.?calls?))|error parsing tool call|tool call (validation|generation) failed|model produced invalid sequence|parsing failed\. the model generated output/i,
  },
  { verdict: ["bad_request", false], at: (status) => status < 500, code: /^405 /, message: wrongAddress },
  { verdict: ["overloaded", true], at: mayPass, code: /overloaded/i, message: /\boverloaded\b|负载|繁忙/i },
  {
    // Bedrock and DashScope throttle; gateways answer 400 for them, GitHub 403.
    verdict: ["rate_limit", true],
    at: (status) => status === 400 || status === 403 || (mayPass(status) && status !== 429),
    code: rateWords,
    message:
      /\brate (limit|exceeded)|\btoo many tokens, please wait|\btoo many requests|throttling|过于频繁|频率.{0,6}限/i,
  },
];

const shortened = (text: string, { secrets }: Pick<FailureSetting, "secrets">): string => {
  // Redacted before it is cut, since half a key may not look like one.
  const redacted = redact(text, secrets).replaceAll(/\s+/g, " ");
  return redacted.length > messageLength ? `${redacted.slice(0, messageLength)}…` : redacted;
};

const messageLength = 500;

const timeoutCode = /^(UND_ERR_(BODY|HEADERS|CONNECT)_TIMEOUT|ETIMEDOUT)$/;

const isNetwork = (thrown: TypeError): boolean =>
  thrown.cause !== undefined || /terminated|fetch failed|network/i.test(thrown.message);

const rootOf = (thrown: unknown): string => {
  const cause = innermost(thrown);
  return cause instanceof Error ? `${codeOf(cause)} ${cause.message}`.trim() : String(cause);
};

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";

/** `fetch` wraps a refused connection twice. */
const innermost = (thrown: unknown, depth = 5): unknown =>
  depth > 0 && thrown instanceof Error && thrown.cause !== undefined ? innermost(thrown.cause, depth - 1) : thrown;
