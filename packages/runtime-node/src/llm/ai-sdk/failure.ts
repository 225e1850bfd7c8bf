import { messageOf } from "@colloquy/host/store";
import type { Failure, FailureKind, Json } from "@colloquy/machine";
import {
  type FailureSetting,
  failureOfBody,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
} from "../failure/failure.ts";

/**
 * The failure that an error of the AI SDK is, or of one of its providers, thrown or in the stream. The status of a response
 * decides as it does for any server, with the wait that its headers ask for; an error without one goes by its name, by what
 * it was caused by, or by what the provider said in place of an answer. Nothing of the request stands in it.
 */
export const failureOfAiError = (error: unknown, setting: FailureSetting): Failure => {
  try {
    return classified(error, setting);
  } catch {
    // What is thrown may be anything, and throw when it is read.
    return failureOfThrown(new Error(messageOf(error)), setting);
  }
};

const classified = (error: unknown, setting: FailureSetting): Failure => {
  const { name, message, cause } =
    error instanceof Error ? error : { name: "", message: messageOf(error), cause: undefined };
  const [kind, retryable] = kindsOfNames.find(([pattern]) => pattern.test(name))?.[1] ?? [];
  if (kind !== undefined && retryable !== undefined)
    return { ...failureOfErrorObject({ message }, setting), kind, retryable };
  const fields: Readonly<Record<string, unknown>> = typeof error === "object" ? { ...error } : {};
  const { statusCode: status, responseHeaders, responseBody: body, data: given } = fields;
  const text = typeof body === "string" ? body : "";
  // What a provider said in the stream.
  const data = given === undefined || given === null ? undefined : jsonOf(given);
  if (typeof status === "number" && status >= 300)
    return failureOfResponse(
      { status, headers: headersOf(responseHeaders), error: text || (data ?? message) },
      setting,
    );
  if (typeof status === "number" && status >= 200 && text !== "") return failureOfBody(text, setting);
  if (data !== undefined || !(error instanceof Error)) return failureOfErrorObject(data ?? jsonOf(error), setting);
  const failure = failureOfThrown(cause ?? error, setting);
  // The SDK means: no answer came, and there may be one the next time.
  return failure.kind === "unknown" && fields["isRetryable"] === true
    ? { ...failure, kind: "network", retryable: true }
    : failure;
};

/** Names of headers are written in small letters, or as a `fetch` of the caller's own has them. */
const headersOf = (headers: unknown): { get(name: string): string | null } => {
  const named = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
  return { get: (name) => named.get(name) ?? null };
};

/** Of what has no JSON, its words. */
const jsonOf = (value: unknown): Json => {
  try {
    // What JSON.stringify wrote is JSON.
    return JSON.parse(JSON.stringify(value) ?? "null") as Json;
  } catch {
    return messageOf(value);
  }
};

type Verdict = readonly [kind: FailureKind, retryable: boolean];

/** Errors of the SDK that have no status, by what it calls them. */
const kindsOfNames: readonly (readonly [RegExp, Verdict])[] = [
  [/^AI_Load(APIKey|Setting)Error$/, ["auth", false]],
  [
    /^AI_(NoSuch(Model|Provider|ProviderReference)|Unsupported(ModelVersion|Functionality))Error$/,
    ["bad_request", false],
  ],
  [/^AI_(Invalid(Prompt|Argument|DataContent)|MessageConversion|Download)Error$/, ["bad_request", false]],
  [/^AI_(EmptyResponseBody|No(Output|Content)Generated|JSONParse)Error$/, ["truncated", true]],
  [/^AI_(InvalidResponseData|TypeValidation)Error$/, ["unknown", true]],
];
