import type { Failure, FailureKind, JsonObject } from "@colloquy/machine";

/** An error response in OpenAI's format. */
export interface WireError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  /** The faulty field of the request, such as `messages[2].role`. */
  readonly param: string | null;
  readonly code: string | null;
  readonly headers?: { readonly [name: string]: string };
}

export const invalidRequest = (message: string, param: string | null, code: string | null = null): WireError => ({
  status: 400,
  message,
  type: "invalid_request_error",
  param,
  code,
});

export const bodyOfError = ({ message, type, param, code }: WireError): JsonObject => ({
  error: { message, type, param, code },
});

/** Returns the response that a real server would give for a failure. For `network` and `truncated` there is none. */
export const errorOfFailure = (failure: Failure): WireError => {
  const known = responses[failure.kind];
  return {
    status: failure.status ?? known.status,
    message: failure.message,
    type: known.type,
    param: null,
    code: failure.code ?? known.code,
    headers: {
      "x-should-retry": String(failure.retryable),
      ...(failure.retryAfterMs === undefined
        ? {}
        : {
            "retry-after-ms": String(failure.retryAfterMs),
            "retry-after": String(Math.ceil(failure.retryAfterMs / 1000)),
          }),
    },
  };
};

export const eventOfFailure = (failure: Failure): string =>
  `data: ${JSON.stringify(bodyOfError(errorOfFailure(failure)))}\n\n`;

/** Makes the error for a fault of the test itself, which a retry cannot fix. */
export const testError = (message: string): WireError => ({
  status: 500,
  message,
  type: "server_error",
  param: null,
  code: "unexpected_call",
  headers: { "x-should-retry": "false" },
});

const responses: Readonly<Record<FailureKind, Pick<WireError, "status" | "type" | "code">>> = {
  rate_limit: { status: 429, type: "requests", code: "rate_limit_exceeded" },
  overloaded: { status: 503, type: "server_error", code: "overloaded" },
  auth: { status: 401, type: "invalid_request_error", code: "invalid_api_key" },
  bad_request: { status: 400, type: "invalid_request_error", code: null },
  context_length: { status: 400, type: "invalid_request_error", code: "context_length_exceeded" },
  content_filter: { status: 400, type: "invalid_request_error", code: "content_filter" },
  timeout: { status: 408, type: "server_error", code: "timeout" },
  network: { status: 502, type: "server_error", code: null },
  truncated: { status: 502, type: "server_error", code: null },
  unknown: { status: 500, type: "server_error", code: null },
};
