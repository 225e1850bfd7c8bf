import { strictSchema } from "@colloquy/host";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { isList } from "./reply/loose-json.ts";
import type { RequestBody } from "./transport/request-body.ts";
import type { WireOptions } from "./wire/wired.ts";

/** Options of the handlers that say how their requests are written. */
export interface RequestOptions extends WireOptions {
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
}

/** Options of the handlers that ask for streams of chat completions or texts. */
export interface UsageOptions {
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

/** A body that is being made. */
export type OpenBody = { -readonly [Parameter in keyof RequestBody]: RequestBody[Parameter] };

/** Returns the parameters of a call with what the options add: nothing that a parameter contradicts. */
export const parametersOf = ({ model: given }: CallLlm, { model, stream }: RequestOptions): OpenBody => {
  const body: OpenBody = { ...given };
  if (body["model"] === undefined && model !== undefined) body["model"] = model;
  if (body["stream"] === undefined && stream !== false) body["stream"] = true;
  return body;
};

/** The same with the wish for usage; `stream_options: null` leaves that out. */
export const withUsage = (body: OpenBody, { includeUsage }: UsageOptions): OpenBody => {
  const { stream_options: given, ...others } = body;
  if (given === null) return others;
  return given === undefined && body["stream"] === true && includeUsage !== false
    ? { ...others, stream_options: { include_usage: true } }
    : body;
};

/** How one API writes tools and outputs. */
export interface ToolFormat {
  readonly tool: (tool: ToolDeclaration) => JsonObject;
  /** The choice of the one tool that has to be called. */
  readonly choice: (name: string) => JsonObject;
  readonly native: (format: {
    readonly name: string;
    readonly schema: JsonObject;
    readonly strict: true;
  }) => JsonObject;
}

/** Returns the parameters that bring a model to write the output that the call wants: one more tool is among the tools already. */
export const outputParameters = (
  { output, tools = [], model }: CallLlm,
  { choice, native }: Pick<ToolFormat, "choice" | "native">,
): JsonObject => {
  if (output?.mode === "native")
    return native({ name: output.name, schema: strictSchema(output.schema), strict: true });
  if (output?.mode !== "tool") return {};
  const given = model["tools"];
  const isOneOfSeveral = isList(given) ? given.length > 0 : tools.length > 1;
  return { tool_choice: isOneOfSeveral ? "required" : choice(output.name) };
};

/**
 * Returns the body with the tools that the call offers. `tools` among the parameters take their place, but for the tool that an
 * output has to be written by. A summary is asked for without tools.
 */
export const withTools = (
  body: OpenBody,
  { purpose, output }: CallLlm,
  offered: readonly ToolDeclaration[],
  { tool }: Pick<ToolFormat, "tool">,
): RequestBody => {
  if (purpose === "summary")
    return Object.fromEntries(Object.entries(body).filter(([parameter]) => !ofTools.has(parameter)));
  const own = body["tools"];
  if (isList(own) && output?.mode === "tool")
    return { ...body, tools: [...own, ...offered.filter(({ name }) => name === output.name).map(tool)] };
  if (own !== undefined || body["functions"] !== undefined || offered.length === 0) return body;
  return { ...body, tools: offered.map(tool) };
};

/** Servers refuse parameters about calls where there is nothing to call. */
const ofTools: ReadonlySet<string> = new Set(
  "tools tool_choice parallel_tool_calls max_tool_calls functions function_call".split(" "),
);
