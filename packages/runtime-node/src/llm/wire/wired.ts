import { type LlmContext, type LlmDelta, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import type { CallLlm, Json, JsonObject, ReplyDraft, ToolDeclaration } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { badRequest } from "../failure/failure.ts";
import { isObject } from "../json/loose-json.ts";
import type { Dialect } from "./dialect.ts";
import { type Api, dialectFor, dialects } from "./dialects.ts";
import { originOf, refusesFields, withOrigin, withoutFields } from "./fields.ts";
import type { Wire } from "./messages.ts";
import { toolNameOnWire } from "./names.ts";
import { completedSchema } from "./schemas.ts";

/** Options of a handler that say which server it calls. */
export interface WireOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /**
   * What the server takes: the name of a dialect, or a dialect of your own. Default: chosen by base URL and model, as the
   * list in the page "Models" says.
   */
  readonly dialect?: string | Dialect;
}

/** How a handler asks the server that it calls. */
interface Wiring<Request> {
  /** Its name, for errors. */
  readonly name: string;
  readonly wireOf: (call: CallLlm) => Wire;
  /** Declarations for callers that hand none over, if it takes any. */
  readonly tools?: readonly ToolDeclaration[] | undefined;
  /** Returns the request of a call with the declarations of the tools that it offers; or in words why there can be none. */
  readonly request: (
    call: CallLlm,
    offered: readonly ToolDeclaration[],
    setting: { readonly wire: Wire; readonly at: number },
  ) => Either.Either<string, Request>;
  readonly perform: (request: Request, call: CallLlm, context: LlmContext) => Promise<LlmOutcome>;
}

/**
 * Makes a handler that asks with exactly the tools of a call, under the names and with the schemas that the server takes, while
 * its caller sees their own names. Outputs that are wanted by a tool or in words are asked for here. Replies that only their
 * server can read in full say where they come from. If the server refuses its own fields, a second request is without them.
 */
export const wired =
  <Request>({ name, wireOf, tools: given, request, perform }: Wiring<Request>): LlmHandler =>
  async (call, context) => {
    const wire = wireOf(call);
    const { dialect, origin } = wire;
    const offered = offeredTools(call, context.tools, given ?? []);
    if (typeof offered === "string") {
      const way = given === undefined ? "" : `, or give ${name} tools`;
      return badRequest(
        `the call offers the tool "${offered}", and ${name} has no declaration of it: hand it over in the context's tools${way}`,
      );
    }
    const names = changedNames(call, offered, dialect);
    const own = (written: string): string => names.get(written) ?? written;
    const onDelta = (delta: LlmDelta): void =>
      context.onDelta(delta.type === "toolCall" ? { ...delta, name: own(delta.name) } : delta);
    const ask = async (given: CallLlm): Promise<LlmOutcome> => {
      const written = callOnWire(given, dialect);
      const asked = outputRequest(written, {
        ...context,
        tools: offered.map((tool) => wellFormed(toolOnWire(tool, dialect))),
        ...(names.size === 0 ? {} : { onDelta }),
      });
      const body = request(asked.call, asked.context.tools, { wire, at: context.clock.now() });
      if (Either.isLeft(body)) return badRequest(body.left);
      return withOrigin(asked.read(await perform(body.right, written, asked.context)), origin);
    };
    const first = await ask(call);
    const plain = refusesFields(first) ? withoutFields(call) : call;
    const outcome = plain === call ? first : await ask(plain);
    return names.size === 0 ? outcome : withOwnNames(outcome, own);
  };

/**
 * The declarations of the tools that a call offers, or the name of one that is missing. A call that does not say what it offers
 * (a thread of 0.1) offers all that is declared; parameters may bring tools themselves.
 */
const offeredTools = (
  { tools, model, purpose }: CallLlm,
  declared: readonly ToolDeclaration[],
  given: readonly ToolDeclaration[],
): readonly ToolDeclaration[] | string => {
  if (purpose === "summary") return [];
  if (tools === undefined) return declared.length > 0 ? declared : given;
  const known = [...declared, ...given];
  const found = tools.map(({ name }) => known.find((tool) => tool.name === name) ?? name);
  const missing = found.find((each) => typeof each === "string");
  const isOverridden = model["tools"] !== undefined || model["functions"] !== undefined;
  if (missing !== undefined && !isOverridden) return missing;
  return found.filter((each) => typeof each !== "string");
};

/**
 * Returns what gives the server of a call: by the options of its handler, or else by the base URL and the model.
 *
 * @param connected.address Where the server is, if `baseURL` only names it.
 */
export const wireFor =
  (
    { baseURL, address = baseURL, options }: { baseURL: string; address?: string | undefined; options: WireOptions },
    api: Api,
  ) =>
  ({ model: { model = options.model ?? "" } }: CallLlm): Wire => {
    const name = typeof model === "string" ? model : "";
    const { dialect } = options;
    const own = typeof dialect === "string" ? dialects[dialect] : dialect;
    return { dialect: own ?? dialectFor(baseURL, name, api), origin: originOf(address, name), format: formats[api] };
  };

const formats = { chat: null, responses: "responses", text: null, "ai-sdk": "model" } as const;

/** A declaration as the dialect takes it. */
const toolOnWire = (tool: ToolDeclaration, { toolNames, schemas }: Dialect): ToolDeclaration => {
  const parameters = tool.parameters ?? { type: "object", properties: {} };
  return {
    ...tool,
    name: toolNameOnWire(tool.name, toolNames),
    parameters: schemas === "completed" ? completedSchema(parameters) : parameters,
  };
};

/** The own names of tools by those on the wire, if they differ. */
const changedNames = (
  { tools = [], output }: CallLlm,
  declared: readonly ToolDeclaration[],
  { toolNames }: Dialect,
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const name of [...declared, ...tools].map((tool) => tool.name).concat(output?.name ?? [])) {
    const written = toolNameOnWire(name, toolNames);
    if (written !== name) names.set(written, name);
  }
  return names;
};

const callOnWire = (call: CallLlm, { toolNames }: Dialect): CallLlm => {
  const named = <Named extends { readonly name: string }>(value: Named): Named => ({
    ...value,
    name: toolNameOnWire(value.name, toolNames),
  });
  return {
    ...call,
    model: wellFormed(choiceOnWire(call.model, toolNames)),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(named) }),
    ...(call.output === undefined ? {} : { output: named(call.output) }),
  };
};

/** The parameters with the tools that are to be called under their names on the wire, in each form of the choice. */
const choiceOnWire = (model: JsonObject, pattern: string): JsonObject => {
  const renamed = (member: string, value: Json): Json =>
    (member === "name" || member === "toolName") && typeof value === "string" ? toolNameOnWire(value, pattern) : value;
  const chosen = ["tool_choice", "toolChoice"].filter((name) => isObject(model[name]));
  const written = chosen.map((name) => [name, JSON.parse(JSON.stringify(model[name]), renamed) as Json] as const);
  return { ...model, ...Object.fromEntries(written) };
};

const withOwnNames = (outcome: LlmOutcome, own: (name: string) => string): LlmOutcome => {
  const renamed = (reply: ReplyDraft): ReplyDraft =>
    reply.toolCalls === undefined
      ? reply
      : { ...reply, toolCalls: reply.toolCalls.map((call) => ({ ...call, name: own(call.name) })) };
  if (outcome.type === "completed") return { ...outcome, reply: renamed(outcome.reply) };
  return outcome.partial === undefined ? outcome : { ...outcome, partial: renamed(outcome.partial) };
};
