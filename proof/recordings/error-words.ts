import type { FailureKind } from "@colloquy/machine";

export interface Verdict {
  readonly kind: FailureKind;
  readonly retryable: boolean;
}

/** The meaning of a documented code or type of an error. */
export interface Meaning {
  /** The original spelling. */
  readonly word: string;
  readonly verdict: Verdict;
  /** An error status takes precedence. */
  readonly yields?: true;
  readonly statuses: (status: number) => boolean;
  /** A word of the sentences that OpenAI and Azure send with it. */
  readonly about?: RegExp;
  /** Exceptions in which it may come with another status. */
  readonly unless?: (status: number, message: string) => boolean;
}

/** Returns the most specific meaning of an error's codes and types; null for undocumented ones. */
export const meaningOf = (words: readonly string[]): Meaning | null => {
  for (const { known, ...meaning } of meanings) {
    const word = words.find((each) => known.has(plain(each)));
    if (word !== undefined) return { word, ...meaning };
  }
  return null;
};

/** Removes differences in spelling: RateLimitReached, rate_limit_reached. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).map(plain));

const isOfClient = (status: number): boolean => status >= 400 && status < 500;
const isOfServer = (status: number): boolean => status >= 500;
const isOneOf =
  (...statuses: readonly number[]) =>
  (status: number): boolean =>
    statuses.includes(status);

/** Documented codes of OpenAI, Azure, Anthropic, Google, OpenRouter, Mistral, Groq and vLLM, most specific first. */
const meanings: readonly (Omit<Meaning, "word"> & { readonly known: ReadonlySet<string> })[] = [
  {
    known: setOf("context_length_exceeded context_window_exceeded model_context_window_exceeded prompt_too_long"),
    about: /context|length|long|token|window/i,
    verdict: { kind: "context_length", retryable: false },
    statuses: isOneOf(400, 413, 422),
  },
  {
    known: setOf(
      "content_filter content_policy_violation ResponsibleAIPolicyViolation moderation_blocked PROHIBITED_CONTENT image_content_policy_violation",
    ),
    about: /filter|polic|safety|moderat|content|flagged|block/i,
    verdict: { kind: "content_filter", retryable: false },
    statuses: isOfClient,
  },
  {
    known: setOf(
      "insufficient_quota insufficient_balance insufficient_credits insufficient_funds billing_hard_limit_reached billing_not_active billing_error",
    ),
    about: /quota|billing|balance|credit|fund|account/i,
    verdict: { kind: "rate_limit", retryable: false },
    statuses: isOneOf(400, 402, 403, 429),
  },
  {
    known: setOf(
      "rate_limit_exceeded rate_limit_error RateLimitReached RateLimitError rate_limited too_many_requests tokens requests RESOURCE_EXHAUSTED",
    ),
    about: /rate|limit|quota|too many|requests|large|capacity/i,
    verdict: { kind: "rate_limit", retryable: true },
    statuses: isOneOf(429),
  },
  {
    known: setOf("overloaded_error overloaded engine_overloaded engine_overloaded_error"),
    verdict: { kind: "overloaded", retryable: true },
    statuses: (status) => isOfServer(status) || status === 429,
  },
  {
    known: setOf("service_unavailable service_unavailable_error ServiceUnavailable unavailable_error UNAVAILABLE"),
    verdict: { kind: "overloaded", retryable: true },
    yields: true,
    statuses: isOfServer,
  },
  {
    known: setOf("timeout timeout_error request_timeout RequestTimeout DEADLINE_EXCEEDED gateway_timeout"),
    verdict: { kind: "timeout", retryable: true },
    statuses: (status) => isOfServer(status) || status === 408,
  },
  {
    known: setOf(
      "server_error internal_error internal_server_error InternalServerError INTERNAL InternalError cf_bad_gateway bad_gateway",
    ),
    verdict: { kind: "unknown", retryable: true },
    yields: true,
    statuses: isOfServer,
  },
  {
    known: setOf(
      "invalid_api_key invalid_authentication authentication_error AuthenticationError permission_error permission_denied PermissionDenied PERMISSION_DENIED UNAUTHENTICATED unauthorized AccessDenied account_deactivated request_forbidden unsupported_country_region_territory invalid_organization",
    ),
    about:
      /key|auth|token|credential|permission|access|organization|project|account|country|region|territory|denied|header|forbid/i,
    verdict: { kind: "auth", retryable: false },
    statuses: isOneOf(401, 403),
  },
  {
    known: setOf("DeploymentNotFound not_found not_found_error NotFoundError NOT_FOUND unknown_url"),
    about: /deploy|exist|found|url|resource|no such/i,
    verdict: { kind: "bad_request", retryable: false },
    yields: true,
    statuses: isOneOf(404),
  },
  {
    known: setOf("model_not_found"),
    about: /model|engine/i,
    verdict: { kind: "bad_request", retryable: false },
    yields: true,
    statuses: isOneOf(400, 403, 404),
  },
  {
    known: setOf(
      "INVALID_ARGUMENT FAILED_PRECONDITION invalid_value invalid_type missing_required_parameter unknown_parameter unsupported_parameter unsupported_value unsupported_file invalid_image invalid_image_url string_above_max_length array_above_max_length integer_above_max_value invalid_function_parameters invalid_json_schema",
    ),
    about:
      /invalid|missing|unsupported|support|unknown|must|expected|should|only|cannot|can't|could not|fail|unable|requir|allow|too |not /i,
    verdict: { kind: "bad_request", retryable: false },
    yields: true,
    statuses: isOneOf(400, 413, 415, 422),
  },
  {
    known: setOf(
      "invalid_request_error BadRequest BadRequestError bad_request_error unprocessable_entity request_too_large",
    ),
    verdict: { kind: "bad_request", retryable: false },
    yields: true,
    statuses: (status) => isOfClient(status) && ![401, 403, 408, 429].includes(status),
    // A wrong key is an invalid request too, and so is a request beyond the rate limit.
    unless: (status, message) =>
      (status === 401 || status === 403
        ? /key|auth|token|credential|permission|access|organization|project|account|country|header/i
        : status === 429
          ? /rate|quota|limit|capacity|too many|requests/i
          : /^$/
      ).test(message),
  },
];
