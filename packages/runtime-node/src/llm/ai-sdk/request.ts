import { strictSchema } from "@colloquy/host";
import { type ModelMessage, toModelMessages } from "@colloquy/interchange";
import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { defined, isObject, isText } from "../json/loose-json.ts";
import { type Wire, wireMessages, WireState } from "../wire/messages.ts";
import type { AiCallOptions } from "./sdk-model.ts";

/** A call in the form of the AI SDK. */
export interface AiRequest {
  readonly messages: readonly JsonObject[];
  /** The settings of `streamText`: `temperature`, `maxOutputTokens` and the like. */
  readonly settings: JsonObject;
  readonly providerOptions: JsonObject;
  /** Exactly those that the call offers. */
  readonly tools: readonly ToolDeclaration[];
  /** Goes to the model itself: the SDK would judge by it whether the answer is as wanted, which is for the machine to judge. */
  readonly wanted: Pick<AiCallOptions, "toolChoice" | "responseFormat">;
}

/**
 * Returns the request of a call, or the reason why there is none, such as a parameter that is not a setting of the SDK.
 * Parameters have the names of the SDK or those of chat completions.
 */
export const aiRequest = (
  call: CallLlm,
  offered: readonly ToolDeclaration[],
  given: { readonly modelId: string; readonly providerOptions?: JsonObject | undefined; readonly wire: Wire },
): Either.Either<string, AiRequest> => {
  const settings: { [name: string]: Json } = {};
  let providerOptions = given.providerOptions ?? {};
  let choice: AiCallOptions["toolChoice"];
  for (const [name, value] of Object.entries(call.model)) {
    // An answer is always streamed.
    if (value === undefined || value === null || name === "stream" || name === "stream_options") continue;
    const setting = settingNames.get(name);
    if (setting !== undefined) settings[setting] = setting === "stopSequences" ? [value].flat() : value;
    else if (name === "model") {
      if (value !== given.modelId)
        return Either.left(
          `the call names the model ${JSON.stringify(value)}, and aiSdkModel was given ${JSON.stringify(given.modelId)}: leave model out of the parameters, or give that model`,
        );
    } else if (name === "providerOptions" && isObject(value)) providerOptions = merged(providerOptions, value);
    else if (name === "toolChoice" || name === "tool_choice") {
      choice = choiceOf(value);
      if (choice === undefined) return Either.left(`${name} is ${JSON.stringify(value)}; ${choices}`);
    } else return Either.left(unknownParameter(name));
  }
  return Either.right({
    messages: withOwnItems(toModelMessages(wireMessages(call.messages, given.wire, new WireState())).value),
    settings,
    providerOptions,
    tools: offered,
    wanted: wantedOf(call, offered, choice),
  });
};

/** Removes item ids of the Responses API that an earlier message has. Parts of one message may share an item. */
const withOwnItems = (messages: readonly ModelMessage[]): readonly JsonObject[] => {
  const firstWith = new Map<Json | undefined, number>();
  return messages.map(({ content, ...message }, index) => {
    if (typeof content === "string") return { ...message, content };
    const ownOf = (options: Json | undefined): Json | undefined => {
      if (!isObject(options)) return options;
      // Options without an id have none to lose.
      const { itemId, ...others } = options;
      if (!firstWith.has(itemId)) firstWith.set(itemId, index);
      return firstWith.get(itemId) === index ? options : others;
    };
    const partOf = ({ providerOptions, ...part }: JsonObject): JsonObject => {
      if (!isObject(providerOptions)) return part;
      const own = Object.entries(providerOptions).map(([name, each]) => [name, ownOf(each)]);
      return { ...part, providerOptions: Object.fromEntries(own) as JsonObject };
    };
    return { ...message, content: content.map(partOf) };
  });
};

const unknownParameter = (name: string): string =>
  `aiSdkModel knows no parameter ${JSON.stringify(name)}: it takes the settings of streamText (${[...new Set(settingNames.values())].join(", ")}), toolChoice and providerOptions, where a provider takes what only it knows`;

const choices = 'give "auto", "none", "required", or { type: "tool", toolName }';

/** Returns how the model is brought to write the wanted output, and which tools it may call. */
const wantedOf = (
  { output }: CallLlm,
  tools: readonly ToolDeclaration[],
  given: AiCallOptions["toolChoice"],
): AiRequest["wanted"] => {
  const only =
    tools.length > 1 ? { type: "required" as const } : { type: "tool" as const, toolName: output?.name ?? "" };
  const toolChoice = tools.length === 0 ? undefined : (given ?? (output?.mode === "tool" ? only : undefined));
  return {
    ...defined({ toolChoice }),
    ...(output?.mode === "native" && {
      responseFormat: { type: "json", name: output.name, schema: strictSchema(output.schema) },
    }),
  };
};

/** Each setting by its own name, and by those of chat completions. */
const settingNames: ReadonlyMap<string, string> = new Map(
  [
    ["temperature"],
    ["seed"],
    ["reasoning"],
    ["maxOutputTokens", "max_tokens", "max_completion_tokens"],
    ["topP", "top_p"],
    ["topK", "top_k"],
    ["presencePenalty", "presence_penalty"],
    ["frequencyPenalty", "frequency_penalty"],
    ["stopSequences", "stop"],
  ].flatMap(([own = "", ...others]) => [own, ...others].map((name) => [name, own] as const)),
);

const choiceOf = (value: Json): AiCallOptions["toolChoice"] => {
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (!isObject(value)) return undefined;
  const { type, toolName, function: named } = value;
  const name = type === "function" && isObject(named) ? named["name"] : toolName;
  return (type === "tool" || type === "function") && isText(name) ? { type: "tool", toolName: name } : undefined;
};

/** Merges by provider: the call's options override those of the handler. */
const merged = (given: JsonObject, own: JsonObject): JsonObject => ({
  ...given,
  ...Object.fromEntries(
    Object.entries(own).map(([provider, options]): [string, Json | undefined] => {
      const before = given[provider];
      return [provider, isObject(before) && isObject(options) ? { ...before, ...options } : options];
    }),
  ),
});
