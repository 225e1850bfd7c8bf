import type { Json, JsonObject } from "@colloquy/machine";
import { z } from "zod";
import { isJsonObject } from "../items/item.ts";
import {
  plainChoice,
  readInputItems,
  readMetadata,
  readToolChoice,
  readTools,
  skippedInput,
  type ToolChoice,
} from "./skipping.ts";

const name = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/u, "must be of 1 to 128 letters, digits, _ and -");

/** Accepts any value, since the body was parsed as JSON already. */
const jsonObject = z.record(
  z.string(),
  z.custom<Json>(() => true),
);

/** MCP's names have dots, slashes and colons. A handler maps names that its server does not take. */
const toolName = z.string().regex(/^[\w.:/-]{1,128}$/u, "must be of 1 to 128 letters, digits, _, -, ., : and /");

const functionTool = z.object({
  type: z.literal("function"),
  name: toolName,
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
  strict: z.boolean().nullish(),
});

const items = z.union(
  [z.string(), jsonObject, z.array(z.union([z.string(), jsonObject]))],
  "must be a text or a list of items",
);

/** Clients write 0 or -1 for no limit. */
const limitOf = (tokens: number): number | null => (tokens > 0 ? tokens : null);

/** Clients write an id that they do not have as "". */
const noId = z.literal("").transform(() => null);

/** A caller's tool, as a request declares it. */
interface FunctionTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Readonly<Record<string, Json>> | null | undefined;
  readonly strict?: boolean | null | undefined;
}

type Given<Value> = Value | null | undefined;

/** The body of a request for a new response. */
export interface ResponseRequest {
  readonly model?: Given<string>;
  readonly input?: Given<string | readonly JsonObject[]>;
  readonly instructions?: Given<string>;
  readonly conversation?: Given<string | { readonly id: string }>;
  readonly previous_response_id?: Given<string>;
  readonly store?: Given<boolean>;
  readonly stream?: Given<boolean>;
  readonly background?: Given<boolean>;
  readonly tools?: Given<readonly FunctionTool[]>;
  readonly tool_choice?: ToolChoice;
  readonly parallel_tool_calls?: Given<boolean>;
  readonly max_output_tokens?: Given<number>;
  readonly max_tool_calls?: Given<number>;
  readonly metadata?: Given<Readonly<Record<string, string>>>;
  readonly text?: Given<JsonObject>;
  readonly temperature?: Given<number>;
  readonly top_p?: Given<number>;
  readonly presence_penalty?: Given<number>;
  readonly frequency_penalty?: Given<number>;
  readonly reasoning?: Given<JsonObject>;
  readonly service_tier?: Given<string>;
  readonly user?: Given<string>;
  readonly safety_identifier?: Given<string>;
  readonly prompt_cache_key?: Given<string>;
  /** The members that were left out of the request, each with its path and the reason. */
  readonly skipped?: readonly string[];
}

const members = z.looseObject({
  model: z.string().nullish(),
  input: items.transform(readInputItems).nullish(),
  instructions: z.string().nullish(),
  conversation: z.union([noId, name, z.strictObject({ id: name })]).nullish(),
  previous_response_id: z.union([noId, z.string()]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.record(z.string(), z.unknown()).nullish(),
  background: z.boolean().nullish(),
  tools: z.array(jsonObject).max(1000).nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required", "any", ""]), jsonObject])
    .transform(plainChoice)
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z
    .union([z.int(), z.string().regex(/^\d+$/u).transform(Number)])
    .transform(limitOf)
    .nullish(),
  max_tool_calls: z.int().min(0).nullish(),
  metadata: jsonObject.nullish(),
  include: z.union([z.string().transform((one) => [one]), z.array(z.string())]).nullish(),
  text: jsonObject.nullish(),
  truncation: z.string().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  top_logprobs: z.int().nullish(),
  reasoning: jsonObject.nullish(),
  service_tier: z.string().nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
});

/** The schema of a request. Unsupported members are skipped and listed, unless the answer would be wrong. */
export const responseRequest: z.ZodType<ResponseRequest> = members.transform((body, context): ResponseRequest => {
  const { stream_options, include, truncation, top_logprobs, prompt_cache_retention, tools, tool_choice, ...others } =
    body;
  const { metadata, ...rest } = others;
  const refuse = (path: PropertyKey[], message: string): ResponseRequest => {
    context.addIssue({ code: "custom", path, message });
    return {};
  };
  const unknown = Object.entries(rest).filter(
    ([member, value]) => !Object.hasOwn(members.shape, member) && value != null,
  );
  const meant = unknown.find(([member]) => notHarmless.has(member));
  if (meant !== undefined) return refuse([meant[0]], notHarmless.get(meant[0]) ?? "is not known here");
  const read = readTools(tools ?? []);
  const functions = z.array(functionTool).safeParse(read.kept);
  const [issue] = functions.error?.issues ?? [];
  if (!functions.success) return refuse(["tools", ...(issue?.path ?? [])], issue?.message ?? "invalid");
  const named = readMetadata(metadata ?? {});
  const chosen = readToolChoice(tool_choice, read);
  if ("problem" in chosen) return refuse(["tool_choice"], chosen.problem);
  const options = Object.entries(stream_options ?? {}).filter(([, value]) => value != null && value !== false);
  const skipped = [
    ...unknown.map(([member]) => `${member}: skipped; it is not known here`),
    ...options.map(([member]) => `stream_options.${member}: skipped; streams have no such option here`),
    ...(include ?? []).map((value, index) => `include[${index}]: skipped; ${JSON.stringify(value)} is not given here`),
    ...(truncation == null || truncation === "disabled" ? [] : [`truncation: skipped; the host's policy decides`]),
    ...((top_logprobs ?? 0) === 0 ? [] : ["top_logprobs: skipped; log probabilities are not given here"]),
    ...(prompt_cache_retention == null ? [] : ["prompt_cache_retention: skipped; it is not passed on"]),
    ...named.skipped,
    ...read.skipped,
    ...chosen.skipped,
    ...skippedInput(rest.input),
  ];
  const known = Object.fromEntries(Object.entries(rest).filter(([member]) => Object.hasOwn(members.shape, member)));
  return {
    ...known,
    ...(metadata == null ? {} : { metadata: named.metadata }),
    ...(tools == null ? {} : { tools: functions.data }),
    ...(tool_choice == null ? {} : { tool_choice: chosen.choice }),
    ...(skipped.length === 0 ? {} : { skipped }),
  };
});

/** Unsupported members without which the answer would be wrong. */
const notHarmless: ReadonlyMap<string, string> = new Map([
  ["prompt", "stored prompts are not kept here; send instructions and input"],
  ["messages", "is a member of chat completions; send input"],
]);

/** Returns the members of a request that its response repeats. They are kept with the turn. */
export const echoOf = (request: ResponseRequest): JsonObject =>
  given({
    ...Object.fromEntries(Object.entries(request).filter(([member]) => !notEchoed.has(member))),
    ...(request.skipped === undefined
      ? {}
      : { metadata: { ...request.metadata, [skippedKey]: textOf(request.skipped) } }),
  });

const notEchoed: ReadonlySet<string> = new Set(["input", "stream", "conversation", "skipped"]);

/** The metadata member of a response that lists what was skipped. */
const skippedKey = "colloquy_skipped";

/** Joins the reasons and cuts the text: a metadata value has at most 512 characters. */
const textOf = (skipped: readonly string[]): string => {
  const text = skipped.join("\n");
  return text.length <= 512 ? text : `${text.slice(0, 511).toWellFormed()}…`;
};

/** The form in which a request's parameters reach the host's model. */
export type ModelParameters = "chat" | "responses" | ((request: ResponseRequest) => JsonObject);

/** Converts a request's parameters for the model: to the names of chat completions, or unchanged. */
export const modelParametersOf = (request: ResponseRequest, as: ModelParameters): JsonObject => {
  if (typeof as === "function") return as(request);
  const { model, temperature, top_p, presence_penalty, frequency_penalty, parallel_tool_calls } = request;
  const { tool_choice, max_output_tokens, text, reasoning, service_tier, user, prompt_cache_key } = request;
  const { safety_identifier } = request;
  const both = { model, temperature, top_p, presence_penalty, frequency_penalty, service_tier, user };
  const calls = (request.tools ?? []).length > 0 ? { parallel_tool_calls } : {};
  const keys = { prompt_cache_key, safety_identifier };
  if (as === "responses") return given({ ...both, ...calls, ...keys, tool_choice, max_output_tokens, text, reasoning });
  return given({
    ...both,
    ...calls,
    ...keys,
    tool_choice: chatToolChoice(tool_choice),
    max_completion_tokens: max_output_tokens,
    response_format: chatFormat(text?.["format"]),
    verbosity: text?.["verbosity"],
    reasoning_effort: reasoning?.["effort"],
  });
};

const given = (members: Readonly<Record<string, unknown>>): JsonObject =>
  jsonObject.parse(
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null)),
  );

const chatToolChoice = (choice: ResponseRequest["tool_choice"]): unknown => {
  if (typeof choice !== "object" || choice === null) return choice;
  const { type, name: called, mode = "auto", tools } = choice;
  if (type === "function") return { type, function: { name: called } };
  if (type !== "allowed_tools" || !Array.isArray(tools)) return choice;
  return { type, allowed_tools: { mode, tools: tools.filter(isJsonObject).map(chatToolChoice) } };
};

const chatFormat = (format: unknown): unknown => {
  const read = z.looseObject({ type: z.string() }).safeParse(format);
  if (!read.success || read.data.type === "text") return undefined;
  const { type, ...schema } = read.data;
  return type === "json_schema" ? { type, json_schema: schema } : { type };
};
