import { fromResponseItems, type Imported } from "@colloquy/interchange";
import { type JsonObject, type Message, messagesFromSeed, type SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { Dialect, Request } from "./answer.ts";
import { problemOfOptions, problemOfRules, readBody } from "./request-body.ts";
import { type ResponseWish, responsesStream, wholeResponse } from "./responses-stream.ts";
import { membersOf, notFound, ofItems, typeOf } from "./strict/families/openai-responses.ts";
import { textOf } from "./strict/rules/json.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/**
 * `POST /responses`. Items of answers are kept for `item_reference`, and for reasoning without its encrypted content,
 * unless the request has `store: false`. Conversations are not kept (`previous_response_id`). Reasoning is shown as a
 * summary if the request asks for one, as by OpenAI; otherwise as its own text, as by servers of open models.
 */
export const responsesDialect = (): Dialect => {
  const kept = new Map<string, JsonObject>();
  return {
    idPrefix: "resp_",
    half: (id) => `{"id":${JSON.stringify(id)},"object":"response","status":"completed","output":[{"ty`,
    read: (text) =>
      Either.chain((body: Body) => {
        const problem = problemOfOptions(body) ?? problemOfBody(body);
        if (problem !== null) return Either.left(problem);
        return Either.map((messages: readonly Message[]) => requestOf(body, messages, kept))(messagesOf(body, kept));
      })(readBody(bodySchema, text)),
  };
};

type Body = z.infer<typeof bodySchema>;

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const itemSchema = z.looseObject({
  type: z.string().optional(),
  role: z.enum(["system", "developer", "user", "assistant"]).optional(),
  content: contentSchema.nullish(),
  call_id: z.string().min(1).optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
});

const toolSchema = z.looseObject({ type: z.string(), name: z.string().min(1).optional() });

const bodySchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(itemSchema)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  include: z.array(z.string()).nullish(),
  tools: z.array(toolSchema).optional(),
  reasoning: z.looseObject({ summary: z.string().nullish() }).nullish(),
  previous_response_id: z.string().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.int().min(16).nullish(),
});

const problemOfBody = (body: Body): WireError | null => {
  const { previous_response_id: previous, tools = [] } = body;
  if (previous !== undefined && previous !== null) {
    const message = `Previous response with id '${previous}' not found.`;
    return invalidRequest(message, "previous_response_id", "previous_response_not_found");
  }
  const chat = ["messages", "max_tokens", "response_format"].find((name) => name in body);
  if (chat !== undefined) {
    return invalidRequest(
      `Unsupported parameter: '${chat}'. It is one of chat completions.`,
      chat,
      "unsupported_parameter",
    );
  }
  const index = tools.findIndex(({ type, name }) => type === "function" && name === undefined);
  const param = `tools[${index}].name`;
  return index === -1
    ? null
    : invalidRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
};

const messagesOf = (
  { input, instructions }: Body,
  kept: ReadonlyMap<string, JsonObject>,
): Either.Either<WireError, readonly Message[]> => {
  const refused = (reason: string): WireError => invalidRequest(reason, "input", "invalid_value");
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const before: readonly SeedDraft[] =
    typeof instructions === "string" ? [{ role: "system", content: instructions }] : [];
  return Either.chain(
    (read: readonly JsonObject[]) =>
      Either.chain(({ system, turns }: Imported) => {
        const leading: readonly SeedDraft[] =
          system === null ? [] : [typeof system === "string" ? { role: "system", content: system } : system];
        return Either.mapLeft(refused)(messagesFromSeed(0, [...before, ...leading, ...turns.flat()]));
      })(Either.mapLeft(({ reason }: { readonly reason: string }) => refused(reason))(fromResponseItems(read))),
    // Parsed from JSON, and complete, because the schema keeps unknown fields.
  )(readItems(items as readonly JsonObject[], kept));
};

const requestOf = (body: Body, messages: readonly Message[], kept: Map<string, JsonObject>): Request => {
  const { model, input: _, stream, ...parameters } = body;
  const { store, include, reasoning } = parameters;
  const wish: ResponseWish = {
    summaries: (reasoning?.summary ?? null) !== null,
    encrypted: include?.includes("reasoning.encrypted_content") === true,
    echoed: echoedOf(body),
    onDone: (output) => {
      if (store === false) return;
      for (const item of output) if (typeof item["id"] === "string") kept.set(item["id"], item);
    },
  };
  return {
    model,
    messages,
    // Parsed from JSON, as above.
    parameters: parameters as JsonObject,
    whole: (head, outcome) => wholeResponse(head, outcome, wish),
    stream: stream === true ? (response, head) => responsesStream(response, head, wish) : null,
  };
};

/** Returns the request's fields that an answer repeats, with the defaults of the real server. */
const echoedOf = (body: Body): JsonObject =>
  // Parsed from JSON, as above.
  Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, body[name] ?? value])) as JsonObject;

const defaults: JsonObject = {
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
};

interface KeptItems {
  readonly get: (id: string) => JsonObject | undefined;
}

/**
 * Returns the items of an input, with references replaced by the kept items; or the error of the real server. It
 * refuses an unknown type or field, and reasoning of which it kept nothing or whose following item is missing. It also
 * refuses calls and outputs that do not match.
 */
const readItems = (items: readonly JsonObject[], kept: KeptItems): Either.Either<WireError, readonly JsonObject[]> => {
  const read: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    const problem = problemOfItem(item, `input[${index}]`, kept);
    if (problem !== null) return Either.left(problem);
    const named = item["type"] === "item_reference" ? kept.get(textOf(item["id"])) : undefined;
    read.push(named ?? item);
  }
  const problem = problemOfRules([ofItems.members, ofItems.calls, ofItems.reasoning], { input: read });
  return problem === null ? Either.right(read) : Either.left(problem);
};

const problemOfItem = (item: JsonObject, at: string, kept: KeptItems): WireError | null => {
  const type = typeOf(item) || "message";
  const known = Object.hasOwn(membersOf, type) ? membersOf[type] : undefined;
  if (known === undefined) {
    const supported = Object.keys(membersOf).map((name) => `'${name}'`);
    const message = `Invalid value: '${type}'. Supported values are: ${supported.join(", ")}.`;
    return invalidRequest(message, `${at}.type`, "invalid_value");
  }
  const missing = known.needed.find((name) => item[name] === undefined);
  if (missing !== undefined) {
    const param = `${at}.${missing}`;
    return invalidRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  }
  const unread = type === "reasoning" && textOf(item["encrypted_content"]) === "";
  const id = textOf(item["id"]);
  const isMissing = (unread || type === "item_reference") && kept.get(id) === undefined;
  return isMissing ? { ...invalidRequest(notFound(id).message, "input"), status: 404 } : null;
};
