import { type LlmContext, type LlmDelta, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import type { CallLlm, Json, JsonObject, ReplyDraft, ToolDeclaration } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { badRequest } from "../failure/failure.ts";
import { isObject } from "../json/loose-json.ts";
import { type Api, type Dialect, dialectFor, dialects } from "./dialects.ts";
import { originOf, refusesFields, type Wire, withOrigin, withoutFields } from "./messages.ts";
import { toolNameOnWire } from "./names.ts";
import { completedSchema } from "./schemas.ts";

/** Options of a handler for the server that it calls. */
export interface WireOptions {
  /** The model that is called if neither thread nor ask names one. */
  readonly model?: string;
  /**
   * The dialect of the server: a name, or a dialect of your own. Default: chosen by base URL and model, as the
   * list in the page "Models" says.
   */
  readonly dialect?: string | Dialect;
}

/** A handler of one API: how it makes the request of a call, and performs it. */
interface ApiHandler<Request> {
  /** The handler's name, for errors. */
  readonly name: string;
  readonly wireOf: (call: CallLlm) => Wire;
  /** Declarations for callers that hand none over, if the handler takes any. */
  readonly tools?: readonly ToolDeclaration[] | undefined;
  /** Returns the request of a call with the declarations of its tools, or the reason why there is none. */
  readonly request: (
    call: CallLlm,
    offered: readonly ToolDeclaration[],
    setting: { readonly wire: Wire; readonly at: number },
  ) => Either.Either<string, Request>;
  readonly perform: (request: Request, call: CallLlm, context: LlmContext) => Promise<LlmOutcome>;
}

/**
 * Makes a handler that follows the dialect of its server. It offers exactly the tools of a call, under names and with schemas
 * that the server takes; the caller sees their own names. It asks for outputs by a tool or an instruction, and records the
 * origin of replies. If the server refuses the provider fields of earlier replies, the handler sends the call once more,
 * without them.
 */
export const handlerOnWire =
  <Request>({ name, wireOf, tools: ownTools, request, perform }: ApiHandler<Request>): LlmHandler =>
  async (call, context) => {
    const wire = wireOf(call);
    const { dialect, origin } = wire;
    const offered = offeredTools(call, context.tools, ownTools ?? []);
    if (typeof offered === "string") {
      const way = ownTools === undefined ? "" : `, or give ${name} tools`;
      return badRequest(
        `the call offers the tool "${offered}", and ${name} has no declaration of it: hand it over in the context's tools${way}`,
      );
    }
    const names = changedNames(call, offered, dialect);
    const withOwnName = <Named extends { readonly name: string }>(each: Named): Named => ({
      ...each,
      name: names.get(each.name) ?? each.name,
    });
    const onDelta = (delta: LlmDelta): void => context.onDelta(delta.type === "toolCall" ? withOwnName(delta) : delta);
    const send = async (sent: CallLlm): Promise<LlmOutcome> => {
      const written = callOnWire(sent, dialect);
      const forOutput = outputRequest(written, {
        ...context,
        tools: offered.map((tool) => wellFormed(toolOnWire(tool, dialect))),
        ...(names.size > 0 && { onDelta }),
      });
      const body = request(forOutput.call, forOutput.context.tools, { wire, at: context.clock.now() });
      if (Either.isLeft(body)) return badRequest(body.left);
      return withOrigin(forOutput.read(await perform(body.right, written, forOutput.context)), origin);
    };
    const first = await send(call);
    const plain = refusesFields(first) ? withoutFields(call) : call;
    const outcome = plain === call ? first : await send(plain);
    if (names.size === 0) return outcome;
    const renamed = (reply: ReplyDraft): ReplyDraft =>
      reply.toolCalls === undefined ? reply : { ...reply, toolCalls: reply.toolCalls.map(withOwnName) };
    // A partial reply has no calls.
    return outcome.type === "completed" ? { ...outcome, reply: renamed(outcome.reply) } : outcome;
  };

/**
 * Returns the function that finds dialect and origin of a call: by the options of its handler, or else by base URL and model.
 * `address` says where the server is, if `baseURL` only names it.
 */
export const wireFor =
  (
    { baseURL, address = baseURL, options }: { baseURL: string; address?: string | undefined; options: WireOptions },
    api: Api,
  ) =>
  ({ model: { model = options.model ?? "" } }: CallLlm): Wire => {
    const name = typeof model === "string" ? model : "";
    const { dialect } = options;
    // A dialect of a caller in JavaScript may lack members.
    const own = typeof dialect === "object" ? { ...dialects["common"], ...dialect } : dialects[dialect ?? ""];
    return { dialect: own ?? dialectFor(baseURL, name, api), origin: originOf(address, name), format: formats[api] };
  };

const formats = { chat: null, responses: "responses", text: null, "ai-sdk": "model" } as const;

/**
 * Returns the declarations of the tools that a call offers, or the name of one that has none. A call without `tools` offers all
 * declared ones. If the model's parameters contain tools, these replace the offered ones, so none is missing.
 */
const offeredTools = (
  { tools, model, purpose }: CallLlm,
  declared: readonly ToolDeclaration[],
  ownTools: readonly ToolDeclaration[],
): readonly ToolDeclaration[] | string => {
  if (purpose === "summary") return [];
  if (tools === undefined) return declared.length > 0 ? declared : ownTools;
  const known = [...declared, ...ownTools];
  const found = tools.map(({ name }) => known.find((tool) => tool.name === name) ?? name);
  const missing = found.find((each) => typeof each === "string");
  const isOverridden = model["tools"] !== undefined || model["functions"] !== undefined;
  if (missing !== undefined && !isOverridden) return missing;
  return found.filter((each) => typeof each !== "string");
};

const toolOnWire = (tool: ToolDeclaration, { toolNames, schemas }: Dialect): ToolDeclaration => {
  const parameters = tool.parameters ?? { type: "object", properties: {} };
  return {
    ...tool,
    name: toolNameOnWire(tool.name, toolNames),
    parameters: schemas === "completed" ? completedSchema(parameters) : parameters,
  };
};

/** Returns the own names of tools by their names on the wire; only those that differ. */
const changedNames = (
  { tools = [], output }: CallLlm,
  declared: readonly ToolDeclaration[],
  { toolNames }: Dialect,
): ReadonlyMap<string, string> => {
  const names = [...declared, ...tools].map((tool) => tool.name).concat(output?.name ?? []);
  const written = names.map((name) => [toolNameOnWire(name, toolNames), name] as const);
  return new Map(written.filter(([onWire, name]) => onWire !== name));
};

/** Returns the call with its tools under their names on the wire, in each form of `tool_choice` too. */
const callOnWire = (call: CallLlm, { toolNames }: Dialect): CallLlm => {
  const named = <Named extends { readonly name: string }>(value: Named): Named => ({
    ...value,
    name: toolNameOnWire(value.name, toolNames),
  });
  const renamed = (member: string, value: Json): Json =>
    (member === "name" || member === "toolName") && typeof value === "string"
      ? toolNameOnWire(value, toolNames)
      : value;
  const model: { [parameter: string]: Json | undefined } = { ...call.model };
  for (const choice of ["tool_choice", "toolChoice"])
    if (isObject(model[choice])) model[choice] = JSON.parse(JSON.stringify(model[choice]), renamed) as JsonObject;
  return {
    ...call,
    model: wellFormed(model),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(named) }),
    ...(call.output === undefined ? {} : { output: named(call.output) }),
  };
};
