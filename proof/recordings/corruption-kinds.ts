import type { JsonObject } from "@colloquy/machine";
import type { Corruption, RecordKind } from "./corruptions.ts";
import { dropped, inStream, oneOf, otherNumber, otherText, otherValue, swapped, withError } from "./damage.ts";

type Row = readonly [
  name: string,
  at: RegExp,
  change: Corruption["change"],
  more?: Pick<Corruption, "shownBy" | "unknowable">,
];

const rows = (of: RecordKind, all: readonly Row[]): readonly Corruption[] =>
  all.map(([name, at, change, more]) => ({ of, name, at, change, ...more }));

const companion = { shownBy: "companion" } as const;
const reasons = ["stop", "length", "tool_calls", "content_filter"] as const;
const documented =
  /^(rate|RateLimit|invalid_api|missing|unsupported|invalid_value|DeploymentNotFound|insufficient|context)/;

/** Returns why a sentence of an error may be any other; null if its code or type is documented. */
const sentenceIsFree = (record: JsonObject): string | null =>
  /"code": ?"([A-Za-z_]+)"/.exec(JSON.stringify(record["response"]))?.[1]?.match(documented) == null
    ? "a sentence without a documented code may say anything"
    : null;

const isAzure = ({ host }: JsonObject): string | null =>
  typeof host === "string" && host.endsWith(".azure.com") ? "Azure sends a code, a type or both" : null;

const namesItsStatus = (record: JsonObject): string | null =>
  /"(code|status)": ?"?[45]\d\d/.test(JSON.stringify(record["response"]))
    ? "an answer with status 200 may carry an error that names its own status"
    : null;

/** A case has what its first call asked with. */
const isLaterCall = ({ index }: JsonObject): string | null =>
  index === 0 ? null : "a later call of a case may offer or choose other tools";

const hasOtherItems = (record: JsonObject): string | null =>
  /"type":"(?!message|function_call)[a-z_]+"/.test(JSON.stringify(record["request"]))
    ? "of an item that is neither a message nor a call only its kind and id are recorded"
    : null;

const breaksOff = ({ tags }: JsonObject): string | null =>
  Array.isArray(tags) && tags.includes("no-finish") ? "it is recorded as broken off" : null;

/** All kinds of damage. */
export const corruptions: readonly Corruption[] = [
  ...rows("case", [
    ["a step is dropped", /^\/steps\/\d+$/, dropped],
    ["two steps are swapped", /^\/steps$/, swapped],
    ["the text of a message is changed", /^\/(steps|seed)\/\d+\/content(\/\d+\/text)?$/, otherText],
    ["the text of a reply is changed", /^\/steps\/\d+\/message\/content$/, otherText],
    ["the system prompt is changed", /^\/system$/, otherText],
    ["a role is changed", /^\/(seed\/\d+|steps\/\d+\/message)\/role$/, oneOf("user", "assistant", "system")],
    ["the kind of a step is changed", /^\/steps\/\d+\/type$/, oneOf("user", "llm", "tool", "message")],
    ["the id of a call is changed", /^\/steps\/\d+\/message\/tool_calls\/\d+\/id$/, otherText],
    ["the id of a result is changed", /^\/steps\/\d+\/tool_call_id$/, otherText],
    ["the name of a call is changed", /^\/steps\/\d+\/message\/tool_calls\/\d+\/function\/name$/, otherText],
    ["the tool of a result is changed", /^\/steps\/\d+\/name$/, otherText],
    ["arguments are changed", /^\/steps\/\d+\/message\/tool_calls\/\d+\/function\/arguments$/, otherText],
    ["calls are swapped", /^\/steps\/\d+\/message\/tool_calls$/, swapped],
    ["a finish reason is changed", /^\/steps\/\d+\/finish_reason$/, oneOf("stop", "length", "tool_calls")],
    [
      "a finish reason becomes content_filter",
      /^\/steps\/\d+\/finish_reason$/,
      oneOf("content_filter"),
      { unknowable: () => "any text may be cut by a filter, if the record does not list its reasons" },
    ],
    ["the usage of a call is changed", /^\/steps\/\d+\/usage\/(prompt|completion|total)_tokens$/, otherNumber],
    ["the sum of usage is changed", /^\/expect\/usage\/(prompt|completion|total)_tokens$/, otherNumber],
    [
      "an expected count is changed",
      /^\/expect\/(\w+_(calls|results|messages|final)|calls\/\d+\/messages)$/,
      otherNumber,
    ],
    ["an expected hash is changed", /^\/expect\/(final_sha256|calls\/\d+\/sha256)$/, otherText],
    ["the hash of a request is changed", /^\/expect\/calls\/\d+\/wire_sha256$/, otherText, companion],
    ["an expected reason is changed", /^\/expect\/finish_reasons\/\d+$/, oneOf(...reasons)],
    ["its end is changed", /^\/end$/, oneOf("after_llm", "after_user", "after_tool", "after_llm_pending_tools")],
    ["the model is changed", /^\/model$/, otherText, companion],
    ["a parameter is changed", /^\/params\/[^/]+$/, otherValue, companion],
    ["a parameter is dropped", /^\/params\/[^/]+$/, dropped, companion],
    ["a tool is changed", /^\/tools\/\d+\/.*(name|description|type)$/, otherText, companion],
    ["a tool is dropped", /^\/tools\/\d+$/, dropped, companion],
  ]),
  ...rows("responses case", [
    ["a step is dropped", /^\/steps\/\d+$/, dropped],
    ["two steps are swapped", /^\/steps$/, swapped],
    ["an item is dropped", /^\/steps\/\d+\/(items|output)\/\d+$/, dropped, companion],
    ["two items are swapped", /^\/steps\/\d+\/(items|output)$/, swapped, companion],
    [
      "the text of an item is changed",
      /^\/steps\/\d+\/(items|output)\/\d+\/(content|output)(\/\d+\/text)?$/,
      otherText,
      companion,
    ],
    ["a role is changed", /^\/steps\/\d+\/(items|output)\/\d+\/role$/, oneOf("user", "assistant", "system"), companion],
    ["the id of a call is changed", /^\/steps\/\d+\/(items|output)\/\d+\/call_id$/, otherText, companion],
    ["the id of an item is changed", /^\/steps\/\d+\/output\/\d+\/id$/, otherText, companion],
    ["the name of a call is changed", /^\/steps\/\d+\/output\/\d+\/name$/, otherText, companion],
    ["arguments are changed", /^\/steps\/\d+\/output\/\d+\/arguments$/, otherText, companion],
    ["a status is changed", /^\/steps\/\d+\/status$/, oneOf("completed", "incomplete", "failed"), companion],
    ["the usage of a call is changed", /^\/steps\/\d+\/usage\/\w+$/, otherNumber],
    ["the sum of usage is changed", /^\/expect\/usage\/\w+$/, otherNumber],
    ["an expected count is changed", /^\/expect\/(\w+_calls|calls\/\d+\/input_items)$/, otherNumber],
    ["an expected hash is changed", /^\/expect\/calls\/\d+\/sha256$/, otherText],
    ["the instructions are changed", /^\/instructions$/, otherText, companion],
    ["the model is changed", /^\/model$/, otherText, companion],
    ["a tool is changed", /^\/tools\/\d+\/.*(name|description|type)$/, otherText, companion],
  ]),
  ...rows("stream", [
    ["a piece is dropped", /^\/sse$/, inStream.dropped],
    ["a piece is repeated", /^\/sse$/, inStream.repeated],
    ["two pieces are swapped", /^\/sse$/, inStream.swapped],
    ["it is truncated", /^\/sse$/, inStream.truncated],
    ["an error is put into it", /^\/sse$/, inStream.withError, { unknowable: breaksOff }],
    ["its end mark is dropped", /^\/sse$/, inStream.withoutEnd],
    ["its finish reason is changed", /^\/sse$/, inStream.otherReason],
    ["its usage is changed", /^\/sse$/, inStream.otherUsage],
    ["the expected text is changed", /^\/expect\/choices\/\d+\/message\/content$/, otherText],
    [
      "an expected call is changed",
      /^\/expect\/choices\/\d+\/message\/tool_calls\/\d+\/.*(id|name|arguments)$/,
      otherText,
    ],
    ["an expected reason is changed", /^\/expect\/choices\/\d+\/finish_reason$/, oneOf(...reasons)],
    ["the expected usage is changed", /^\/expect\/usage\/\w+$/, otherNumber],
  ]),
  ...rows("error", [
    [
      "its status is changed",
      /^\/response\/status$/,
      oneOf(200, 401, 403, 429, 500, 502, 503),
      { unknowable: namesItsStatus },
    ],
    [
      "its status is another of refused requests",
      /^\/response\/status$/,
      oneOf(400, 404, 408, 409, 422),
      { unknowable: () => "servers refuse the same request with any of these" },
    ],
    ["its message is emptied", /^\/response\/body(\/error)?\/message$/, () => ""],
    [
      "its message is replaced",
      /^\/response\/body(\/error)?\/message$/,
      () => "replaced",
      { unknowable: sentenceIsFree },
    ],
    [
      "its code is changed",
      /^\/response\/body(\/error)?\/code$/,
      oneOf("rate_limit_exceeded", "invalid_api_key", "server_error", "context_length_exceeded", 502),
    ],
    ["its code is dropped", /^\/response\/body(\/error)?\/code$/, dropped, { unknowable: isAzure }],
    [
      "its type is changed",
      /^\/response\/body(\/error)?\/type$/,
      oneOf("server_error", "tokens", "insufficient_quota", "authentication_error", "changed"),
      { unknowable: isAzure },
    ],
    ["its type is dropped", /^\/response\/body(\/error)?\/type$/, dropped, { unknowable: isAzure }],
    ["its parameter is dropped", /^\/response\/body(\/error)?\/param$/, dropped],
    ["its body is replaced", /^\/response\/body$/, oneOf({ error: { message: "replaced" } }, {}, "replaced")],
    ["its error is renamed", /^\/response\/body$/, (body) => ({ fault: body })],
    ["its host is changed", /^\/host$/, oneOf("api.openai.com", "openrouter.ai")],
    ["its wait is not a time", /^\/response\/headers\/retry-after$/, () => "soon"],
    [
      "its wait is changed",
      /^\/response\/headers\/retry-after$/,
      () => "7",
      { unknowable: () => "any wait may be asked for" },
    ],
  ]),
  ...rows("exchange", [
    ["a message is dropped", /^\/request\/body\/messages\/\d+$/, dropped],
    ["two messages are swapped", /^\/request\/body\/messages$/, swapped],
    ["the text of a message is changed", /^\/request\/body\/messages\/\d+\/content(\/\d+\/text)?$/, otherText],
    ["a role is changed", /^\/request\/body\/messages\/\d+\/role$/, oneOf("user", "assistant", "system")],
    ["the id of a call is changed", /^\/request\/body\/messages\/\d+\/(tool_call_id|tool_calls\/\d+\/id)$/, otherText],
    [
      "arguments are changed",
      /^\/request\/body\/messages\/\d+\/tool_calls\/\d+\/function\/(name|arguments)$/,
      otherText,
    ],
    ["the model is changed", /^\/request\/body\/model$/, otherText],
    ["a parameter is changed", /^\/request\/body\/(?!messages|model|tools)[^/]+$/, otherValue],
    [
      "a parameter is dropped",
      /^\/request\/body\/(?!messages|model|tools|stream$)[^/]+$/,
      dropped,
      { unknowable: isLaterCall },
    ],
    // The body of a request is an object.
    ["a parameter is added", /^\/request\/body$/, (body) => ({ ...(body as JsonObject), seed: 7 })],
    [
      "a tool is changed",
      /^\/request\/body\/tools\/\d+\/.*(name|description|type)$/,
      otherText,
      { unknowable: isLaterCall },
    ],
    ["a tool is dropped", /^\/request\/body\/tools\/\d+$/, dropped, { unknowable: isLaterCall }],
    ["the text of the reply is changed", /^\/response\/body\/choices\/\d+\/message\/content$/, otherText],
    [
      "a call of the reply is changed",
      /^\/response\/body\/choices\/\d+\/message\/tool_calls\/\d+\/(id|function\/(name|arguments))$/,
      otherText,
    ],
    ["the finish reason is changed", /^\/response\/body\/choices\/\d+\/finish_reason$/, oneOf(...reasons)],
    ["the usage is changed", /^\/response\/body\/usage\/(prompt|completion|total)_tokens$/, otherNumber],
    ["the choices are dropped", /^\/response\/body\/choices$/, () => []],
    ["the status is changed", /^\/response\/status$/, oneOf(400, 401, 429, 500, 503)],
    ["an error is added", /^\/response\/body$/, withError],
    ["a piece of the stream is dropped", /^\/response\/sse$/, inStream.dropped],
    ["a piece of the stream is repeated", /^\/response\/sse$/, inStream.repeated],
    ["two pieces of the stream are swapped", /^\/response\/sse$/, inStream.swapped],
    ["the stream is truncated", /^\/response\/sse$/, inStream.truncated],
    ["an error is put into the stream", /^\/response\/sse$/, inStream.withError],
    ["the reason of the stream is changed", /^\/response\/sse$/, inStream.otherReason],
    ["the usage of the stream is changed", /^\/response\/sse$/, inStream.otherUsage],
  ]),
  ...rows("responses exchange", [
    ["an item is dropped", /^\/request\/body\/input\/\d+$/, dropped],
    ["two items are swapped", /^\/request\/body\/input$/, swapped],
    ["the text of an item is changed", /^\/request\/body\/input(\/\d+\/(content|output)(\/\d+\/text)?)?$/, otherText],
    [
      "a role is changed",
      /^\/request\/body\/input\/\d+\/role$/,
      oneOf("user", "assistant", "system"),
      { unknowable: hasOtherItems },
    ],
    ["a call is changed", /^\/request\/body\/input\/\d+\/(call_id|name|arguments)$/, otherText],
    ["the model is changed", /^\/request\/body\/model$/, otherText],
    ["the instructions are changed", /^\/request\/body\/instructions$/, otherText],
    [
      "a parameter is changed",
      /^\/request\/body\/(tool_choice|max_output_tokens|store|previous_response_id)$/,
      otherValue,
    ],
    [
      "a tool is changed",
      /^\/request\/body\/tools\/\d+\/.*(name|description|type)$/,
      otherText,
      { unknowable: isLaterCall },
    ],
    ["the text of the reply is changed", /^\/response\/body\/output\/\d+\/content\/\d+\/text$/, otherText],
    ["a call of the reply is changed", /^\/response\/body\/output\/\d+\/(call_id|name|arguments)$/, otherText],
    ["the state of the reply is changed", /^\/response\/body\/status$/, oneOf("incomplete", "failed")],
    ["the usage is changed", /^\/response\/body\/usage\/(input|output|total)_tokens$/, otherNumber],
    ["the status is changed", /^\/response\/status$/, oneOf(400, 401, 429, 500, 503)],
    ["an error is added", /^\/response\/body$/, withError],
    ["a piece of the stream is dropped", /^\/response\/sse$/, inStream.dropped],
    ["two pieces of the stream are swapped", /^\/response\/sse$/, inStream.swapped],
    ["the stream is truncated", /^\/response\/sse$/, inStream.truncated],
    ["an error is put into the stream", /^\/response\/sse$/, inStream.withError],
    ["the usage of the stream is changed", /^\/response\/sse$/, inStream.otherUsage],
  ]),
];
