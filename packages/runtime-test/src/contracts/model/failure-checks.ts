import type { Failure, JsonObject } from "@colloquy/machine";
import { expect } from "vitest";
import { fails } from "../../models/script.ts";
import { scriptedModel } from "../../models/scripted-model.ts";
import { recordedHtml, recordedJson, type RecordedResponse } from "../../server/recorded-response.ts";
import { failureOf, partialOf } from "./said.ts";
import type { ModelChecks } from "./subject.ts";

/** Checks of error responses. */
export const failureChecks: ModelChecks = {
  "classifies an error response by its status and its code, and does not ask again": async ({ play }) => {
    for (const [status, code, expected] of errors) {
      const { ended, requests, deltas } = await play([errorResponse(status, code)]);
      expect(failureOf(await ended()), `status ${status}, code ${code}`).toMatchObject(expected);
      expect(requests, `requests after status ${status}`).toHaveLength(1);
      expect(deltas).toEqual([]);
    }
  },
  "takes a gateway's page for a failure that passes": async ({ play }) => {
    const { ended } = await play([recordedHtml()]);
    expect(failureOf(await ended())).toMatchObject({ retryable: true, status: 502 });
  },
  "keeps what came before an error in the middle of a stream": async ({ call }) => {
    const failing = fails({ kind: "overloaded", message: "the server is overloaded" }, { partial: "It is snowing" });
    const { ended, deltas, requests } = await call(scriptedModel([failing]));
    const outcome = await ended();
    expect(failureOf(outcome).retryable).toBe(true);
    expect(partialOf(outcome, deltas).text).toBe("It is snowing");
    expect(requests).toHaveLength(1);
  },
  "reports how long the server asks to wait, in whichever form": async ({ play }) => {
    const now = Date.UTC(2026, 0, 1);
    for (const [headers, expected] of [
      [{ "retry-after": "2" }, 2000],
      [{ "retry-after": "0.5" }, 500],
      [{ "retry-after-ms": "1500" }, 1500],
      [{ "retry-after-ms": "1500", "retry-after": "2" }, 1500],
      [{ "retry-after": new Date(now + 3000).toUTCString() }, 3000],
      [{ "retry-after": new Date(now - 3000).toUTCString() }, 0],
      [{ "retry-after": "soon" }, undefined],
      [{}, undefined],
    ] as const) {
      const { ended } = await play([errorResponse(429, "rate_limit_exceeded", headers)]);
      const { kind, retryAfterMs } = failureOf(await ended());
      expect({ headers, kind, retryAfterMs }).toEqual({ headers, kind: "rate_limit", retryAfterMs: expected });
    }
  },
};

const errors: readonly (readonly [status: number, code: string | null, Partial<Failure>])[] = [
  [400, null, { kind: "bad_request", retryable: false, status: 400 }],
  [400, "context_length_exceeded", { kind: "context_length", retryable: false }],
  [400, "content_filter", { kind: "content_filter", retryable: false }],
  [401, "invalid_api_key", { kind: "auth", retryable: false, status: 401 }],
  [404, "model_not_found", { kind: "bad_request", retryable: false }],
  [429, "rate_limit_exceeded", { kind: "rate_limit", retryable: true, status: 429 }],
  [429, "insufficient_quota", { kind: "rate_limit", retryable: false }],
  [500, null, { retryable: true, status: 500 }],
  [503, null, { kind: "overloaded", retryable: true }],
  [504, null, { kind: "timeout", retryable: true }],
];

const errorResponse = (
  status: number,
  code: string | null,
  headers: RecordedResponse["headers"] = {},
): RecordedResponse => {
  const body: JsonObject = { error: { message: `the test answers ${status}`, type: "error", param: null, code } };
  return recordedJson(body, { status, headers });
};
