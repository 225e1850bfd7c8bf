import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import { badRequest } from "../failure/failure.ts";
import type { Api, Dialect } from "./dialect.ts";
import { dialectFor, dialects } from "./dialects.ts";
import type { Wire } from "./messages.ts";
import { originOf, RefusedFields, withOrigin } from "./origin.ts";
import { ToolsOnWire } from "./tools.ts";

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

/** A handler of one API. */
interface ApiHandler {
  /** For errors. */
  readonly name: string;
  readonly wireOf: (call: CallLlm) => Wire;
  /** Declarations for callers that hand none over, if the handler takes any. */
  readonly tools?: readonly ToolDeclaration[] | undefined;
  /** Performs a call. The tools of the context are those to offer. */
  readonly perform: (call: CallLlm, context: LlmContext, wire: Wire) => Promise<LlmOutcome>;
}

/**
 * Makes a handler that follows the dialect of its server. It offers exactly the tools of a call, under names and with schemas
 * that the server takes; the caller sees their own names. It asks for outputs by a tool or an instruction, and records the
 * origin of replies. If the server refuses the provider fields of earlier replies, the handler sends the call once more,
 * without them, and remembers that.
 */
export const handlerOnWire = ({ name, wireOf, tools: ownTools, perform }: ApiHandler): LlmHandler => {
  const refused = new RefusedFields();
  return async (call, context) => {
    const wire = wireOf(call);
    const offered = offeredTools(call, context.tools, ownTools ?? []);
    if (typeof offered === "string") {
      const way = ownTools === undefined ? "" : `, or give ${name} tools`;
      return badRequest(
        `the call offers the tool "${offered}", and ${name} has no declaration of it: hand it over in the context's tools${way}`,
      );
    }
    return refused.send(call, wire, async (given) => {
      const asked = outputRequest(given, { ...context, tools: offered });
      const tools = new ToolsOnWire(asked.context.tools, wire.dialect);
      const sent = tools.written(asked.call);
      const outcome = await tools.perform(asked.context.onDelta, (onDelta) =>
        perform(sent, { ...asked.context, tools: tools.declared, onDelta }, wire),
      );
      return withOrigin(asked.read(outcome), wire.origin);
    });
  };
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
