import type { LlmContext, LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Json, JsonObject, ReplyDraft, ToolDeclaration } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import { badRequest } from "../failure/failure.ts";
import { isObject } from "../reply/loose-json.ts";
import type { Dialect } from "./dialect.ts";
import { type Api, dialectFor, dialects } from "./dialects.ts";
import { originOf, withOrigin } from "./fields.ts";
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

/** A handler, and the server that it calls. */
export interface Wiring {
  /** Its name, for errors. */
  readonly name: string;
  readonly perform: LlmHandler;
  readonly wireOf: (call: CallLlm) => Wire;
  /** Declarations for callers that hand none over, if it takes any. */
  readonly tools?: readonly ToolDeclaration[] | undefined;
}

/**
 * Makes a handler that is given exactly the tools of its call, under the names and with the schemas that the server takes,
 * while its caller sees their own names. Replies that only their server can read in full say where they come from.
 */
export const wired =
  ({ name, perform, wireOf, tools: given }: Wiring): LlmHandler =>
  async (call, context) => {
    const { dialect, origin } = wireOf(call);
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
    const changed: LlmContext = {
      ...context,
      tools: offered.map((tool) => wellFormed(toolOnWire(tool, dialect))),
      ...(names.size === 0 ? {} : { onDelta }),
    };
    const outcome = withOrigin(await perform(callOnWire(call, dialect), changed), origin);
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

/** Returns what gives the server of a call: by the options of its handler, or else by the base URL and the model. */
export const wireFor =
  ({ baseURL, options }: { readonly baseURL: string; readonly options: WireOptions }, api: Api) =>
  ({ model: { model = options.model ?? "" } }: CallLlm): Wire => {
    const name = typeof model === "string" ? model : "";
    const { dialect } = options;
    const own = typeof dialect === "string" ? dialects[dialect] : dialect;
    return { dialect: own ?? dialectFor(baseURL, name, api), origin: originOf(baseURL, name) };
  };

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

/** The parameters with the tool that is to be called under its name on the wire, in each form of the choice. */
const choiceOnWire = (model: JsonObject, pattern: string): JsonObject => {
  const renamed = (value: Json | undefined): Json | undefined => {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([member, each]) => [
        member,
        (member === "name" || member === "toolName") && typeof each === "string"
          ? toolNameOnWire(each, pattern)
          : member === "function"
            ? renamed(each)
            : each,
      ]),
    );
  };
  const chosen = ["tool_choice", "toolChoice"].filter((name) => isObject(model[name]));
  return chosen.length === 0
    ? model
    : { ...model, ...Object.fromEntries(chosen.map((name) => [name, renamed(model[name])])) };
};

const withOwnNames = (outcome: LlmOutcome, own: (name: string) => string): LlmOutcome => {
  const renamed = (reply: ReplyDraft): ReplyDraft =>
    reply.toolCalls === undefined
      ? reply
      : { ...reply, toolCalls: reply.toolCalls.map((call) => ({ ...call, name: own(call.name) })) };
  if (outcome.type === "completed") return { ...outcome, reply: renamed(outcome.reply) };
  return outcome.partial === undefined ? outcome : { ...outcome, partial: renamed(outcome.partial) };
};
