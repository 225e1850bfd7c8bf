import type { Json, JsonObject } from "@colloquy/machine";
import {
  type Corruption,
  dropped,
  inStream,
  oneOf,
  otherNumber,
  otherText,
  otherValue,
  type RecordKind,
  swapped,
  withError,
} from "./corruptions.ts";

type Row = readonly [
  name: string,
  /** The path as a pattern, in which `N` is any number. */
  at: string,
  change: Corruption["change"],
  more?: Pick<Corruption, "shownBy" | "unknowable">,
];

const rows = (of: RecordKind, all: readonly Row[]): readonly Corruption[] =>
  all.map(([name, at, change, more]) => ({
    of,
    name,
    at: new RegExp(`^${at.replaceAll("N", String.raw`\d+`)}$`),
    change,
    ...more,
  }));

const companion = { shownBy: "companion" } as const;
const reasons = ["stop", "length", "tool_calls", "content_filter"] as const;
const documented =
  /^(rate|RateLimit|invalid_api|missing|unsupported|invalid_value|DeploymentNotFound|insufficient|context)/;

/** Marks damage that cannot be noticed unless the record shows it. */
const unless = (isShown: (record: JsonObject) => boolean, why: string): Pick<Corruption, "unknowable"> => ({
  unknowable: (record) => (isShown(record) ? null : why),
});

const anywhere = (why: string): Pick<Corruption, "unknowable"> => unless(() => false, why);

const textOf = (value: Json | undefined): string => JSON.stringify(value) ?? "";

const sentenceIsFree = unless(
  ({ response }) => /"code": ?"([A-Za-z_]+)"/.exec(textOf(response))?.[1]?.match(documented) != null,
  "a sentence without a documented code may say anything",
);
const isAzure = unless(
  ({ host }) => typeof host !== "string" || !host.endsWith(".azure.com"),
  "Azure sends a code, a type or both",
);
const namesItsStatus = unless(
  ({ response }) => !/"(code|status)": ?"?[45]\d\d/.test(textOf(response)),
  "an answer with status 200 may carry an error that names its own status",
);
/** A case records only the parameters of its first call. */
const laterCall = unless(({ index }) => index === 0, "a later call of a case may offer or choose other tools");
const hasOtherItems = unless(
  ({ request }) => !/"type":"(?!message|function_call)[a-z_]+"/.test(textOf(request)),
  "only the kind and the id are recorded of an item that is neither a message nor a call",
);
const breaksOff = unless(
  ({ tags }) => !Array.isArray(tags) || !tags.includes("no-finish"),
  "it is recorded as broken off",
);

/** The common part of both kinds of exchanges. */
const ofExchanges: readonly Row[] = [
  ["the model is changed", "/request/body/model", otherText],
  ["a tool is changed", "/request/body/tools/N/.*(name|description|type)", otherText, laterCall],
  ["the status is changed", "/response/status", oneOf(400, 401, 429, 500, 503)],
  ["an error is added", "/response/body", withError],
  ["a piece of the stream is dropped", "/response/sse", inStream.dropped],
  ["two pieces of the stream are swapped", "/response/sse", inStream.swapped],
  ["the stream is truncated", "/response/sse", inStream.truncated],
  ["an error is put into the stream", "/response/sse", inStream.withError],
  ["the usage of the stream is changed", "/response/sse", inStream.otherUsage],
];

export const corruptions: readonly Corruption[] = [
  ...rows("case", [
    ["a step is dropped", "/steps/N", dropped],
    ["two steps are swapped", "/steps", swapped],
    ["the text of a message is changed", "/(steps|seed)/N/content(/N/text)?", otherText],
    ["the text of a reply is changed", "/steps/N/message/content", otherText],
    ["the system prompt is changed", "/system", otherText],
    ["a role is changed", "/(seed/N|steps/N/message)/role", oneOf("user", "assistant", "system")],
    ["the kind of a step is changed", "/steps/N/type", oneOf("user", "llm", "tool", "message")],
    ["the id of a call is changed", "/steps/N/message/tool_calls/N/id", otherText],
    ["the id of a result is changed", "/steps/N/tool_call_id", otherText],
    ["the name of a call is changed", "/steps/N/message/tool_calls/N/function/name", otherText],
    ["the tool of a result is changed", "/steps/N/name", otherText],
    ["arguments are changed", "/steps/N/message/tool_calls/N/function/arguments", otherText],
    ["calls are swapped", "/steps/N/message/tool_calls", swapped],
    ["a finish reason is changed", "/steps/N/finish_reason", oneOf("stop", "length", "tool_calls")],
    [
      "a finish reason becomes content_filter",
      "/steps/N/finish_reason",
      oneOf("content_filter"),
      anywhere("any text may be cut by a filter, if the record does not list its reasons"),
    ],
    ["the usage of a call is changed", "/steps/N/usage/(prompt|completion|total)_tokens", otherNumber],
    ["the sum of usage is changed", "/expect/usage/(prompt|completion|total)_tokens", otherNumber],
    ["an expected count is changed", "/expect/(\\w+_(calls|results|messages|final)|calls/N/messages)", otherNumber],
    ["an expected hash is changed", "/expect/(final_sha256|calls/N/sha256)", otherText],
    ["the hash of a request is changed", "/expect/calls/N/wire_sha256", otherText, companion],
    ["an expected reason is changed", "/expect/finish_reasons/N", oneOf(...reasons)],
    ["its end is changed", "/end", oneOf("after_llm", "after_user", "after_tool", "after_llm_pending_tools")],
    ["the model is changed", "/model", otherText, companion],
    ["a parameter is changed", "/params/[^/]+", otherValue, companion],
    ["a parameter is dropped", "/params/[^/]+", dropped, companion],
    ["a tool is changed", "/tools/N/.*(name|description|type)", otherText, companion],
    ["a tool is dropped", "/tools/N", dropped, companion],
  ]),
  ...rows("responses case", [
    ["a step is dropped", "/steps/N", dropped],
    ["two steps are swapped", "/steps", swapped],
    ["an item is dropped", "/steps/N/(items|output)/N", dropped, companion],
    ["two items are swapped", "/steps/N/(items|output)", swapped, companion],
    ["the text of an item is changed", "/steps/N/(items|output)/N/(content|output)(/N/text)?", otherText, companion],
    ["a role is changed", "/steps/N/(items|output)/N/role", oneOf("user", "assistant", "system"), companion],
    ["the id of a call is changed", "/steps/N/(items|output)/N/call_id", otherText, companion],
    ["the id of an item is changed", "/steps/N/output/N/id", otherText, companion],
    ["the name of a call is changed", "/steps/N/output/N/name", otherText, companion],
    ["arguments are changed", "/steps/N/output/N/arguments", otherText, companion],
    ["a status is changed", "/steps/N/status", oneOf("completed", "incomplete", "failed"), companion],
    ["the usage of a call is changed", "/steps/N/usage/\\w+", otherNumber],
    ["the sum of usage is changed", "/expect/usage/\\w+", otherNumber],
    ["an expected count is changed", "/expect/(\\w+_calls|calls/N/input_items)", otherNumber],
    ["an expected hash is changed", "/expect/calls/N/sha256", otherText],
    ["the instructions are changed", "/instructions", otherText, companion],
    ["the model is changed", "/model", otherText, companion],
    ["a tool is changed", "/tools/N/.*(name|description|type)", otherText, companion],
  ]),
  ...rows("stream", [
    ["a piece is dropped", "/sse", inStream.dropped],
    ["a piece is repeated", "/sse", inStream.repeated],
    ["two pieces are swapped", "/sse", inStream.swapped],
    ["it is truncated", "/sse", inStream.truncated],
    ["an error is put into it", "/sse", inStream.withError, breaksOff],
    ["its end mark is dropped", "/sse", inStream.withoutEnd],
    ["its finish reason is changed", "/sse", inStream.otherReason],
    ["its usage is changed", "/sse", inStream.otherUsage],
    ["the expected text is changed", "/expect/choices/N/message/content", otherText],
    ["an expected call is changed", "/expect/choices/N/message/tool_calls/N/.*(id|name|arguments)", otherText],
    ["an expected reason is changed", "/expect/choices/N/finish_reason", oneOf(...reasons)],
    ["the expected usage is changed", "/expect/usage/\\w+", otherNumber],
  ]),
  ...rows("error", [
    ["its status is changed", "/response/status", oneOf(200, 401, 403, 429, 500, 502, 503), namesItsStatus],
    [
      "its status is another of refused requests",
      "/response/status",
      oneOf(400, 404, 408, 409, 422),
      anywhere("servers refuse the same request with any of these"),
    ],
    ["its message is emptied", "/response/body(/error)?/message", () => ""],
    ["its message is replaced", "/response/body(/error)?/message", () => "replaced", sentenceIsFree],
    [
      "its code is changed",
      "/response/body(/error)?/code",
      oneOf("rate_limit_exceeded", "invalid_api_key", "server_error", "context_length_exceeded", 502),
    ],
    ["its code is dropped", "/response/body(/error)?/code", dropped, isAzure],
    [
      "its type is changed",
      "/response/body(/error)?/type",
      oneOf("server_error", "tokens", "insufficient_quota", "authentication_error", "changed"),
      isAzure,
    ],
    ["its type is dropped", "/response/body(/error)?/type", dropped, isAzure],
    ["its parameter is dropped", "/response/body(/error)?/param", dropped],
    ["its body is replaced", "/response/body", oneOf({ error: { message: "replaced" } }, {}, "replaced")],
    ["its error is renamed", "/response/body", (body) => ({ fault: body })],
    ["its host is changed", "/host", oneOf("api.openai.com", "openrouter.ai")],
    ["its wait is not a time", "/response/headers/retry-after", () => "soon"],
    ["its wait is changed", "/response/headers/retry-after", () => "7", anywhere("any wait may be asked for")],
  ]),
  ...rows("exchange", [
    ...ofExchanges,
    ["a message is dropped", "/request/body/messages/N", dropped],
    ["two messages are swapped", "/request/body/messages", swapped],
    ["the text of a message is changed", "/request/body/messages/N/content(/N/text)?", otherText],
    ["a role is changed", "/request/body/messages/N/role", oneOf("user", "assistant", "system")],
    ["the id of a call is changed", "/request/body/messages/N/(tool_call_id|tool_calls/N/id)", otherText],
    ["arguments are changed", "/request/body/messages/N/tool_calls/N/function/(name|arguments)", otherText],
    ["a parameter is changed", "/request/body/(?!messages|model|tools)[^/]+", otherValue],
    ["a parameter is dropped", "/request/body/(?!messages|model|tools|stream$)[^/]+", dropped, laterCall],
    // A request's body is an object.
    ["a parameter is added", "/request/body", (body) => ({ ...(body as JsonObject), seed: 7 })],
    ["a tool is dropped", "/request/body/tools/N", dropped, laterCall],
    ["the text of the reply is changed", "/response/body/choices/N/message/content", otherText],
    [
      "a call of the reply is changed",
      "/response/body/choices/N/message/tool_calls/N/(id|function/(name|arguments))",
      otherText,
    ],
    ["the finish reason is changed", "/response/body/choices/N/finish_reason", oneOf(...reasons)],
    ["the usage is changed", "/response/body/usage/(prompt|completion|total)_tokens", otherNumber],
    ["the choices are dropped", "/response/body/choices", () => []],
    ["a piece of the stream is repeated", "/response/sse", inStream.repeated],
    ["the reason of the stream is changed", "/response/sse", inStream.otherReason],
  ]),
  ...rows("responses exchange", [
    ...ofExchanges,
    ["an item is dropped", "/request/body/input/N", dropped],
    ["two items are swapped", "/request/body/input", swapped],
    ["the text of an item is changed", "/request/body/input(/N/(content|output)(/N/text)?)?", otherText],
    ["a role is changed", "/request/body/input/N/role", oneOf("user", "assistant", "system"), hasOtherItems],
    ["a call is changed", "/request/body/input/N/(call_id|name|arguments)", otherText],
    ["the instructions are changed", "/request/body/instructions", otherText],
    ["a parameter is changed", "/request/body/(tool_choice|max_output_tokens|store|previous_response_id)", otherValue],
    ["the text of the reply is changed", "/response/body/output/N/content/N/text", otherText],
    ["a call of the reply is changed", "/response/body/output/N/(call_id|name|arguments)", otherText],
    ["the state of the reply is changed", "/response/body/status", oneOf("incomplete", "failed")],
    ["the usage is changed", "/response/body/usage/(input|output|total)_tokens", otherNumber],
  ]),
];
