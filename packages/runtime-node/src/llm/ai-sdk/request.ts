import { strictSchema } from "@colloquy/host";
import { type ModelMessage, toModelMessages } from "@colloquy/interchange";
import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { isObject, isText } from "../json/loose-json.ts";
import { type Wire, wireMessages, WireState } from "../wire/messages.ts";
import type { AiCallOptions } from "./sdk-model.ts";

/** What a call is in the words of the AI SDK. */
export interface AiRequest {
  readonly messages: readonly JsonObject[];
  /** The settings that `streamText` takes: `temperature`, `maxOutputTokens` and the like. */
  readonly settings: JsonObject;
  readonly providerOptions: JsonObject;
  /** Exactly those that the call offers. */
  readonly tools: readonly ToolDeclaration[];
  /**
   * What is given to the model itself: the SDK would judge by it whether the answer is as it was wanted, which is for the
   * machine to judge.
   */
  readonly wanted: Pick<AiCallOptions, "toolChoice" | "responseFormat">;
}

/**
 * A call as a request; or in words why there can be none, such as a parameter that the SDK has no setting for. Parameters go by
 * the names of the SDK or by those of chat completions. A summary is asked for without tools.
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
    if (value === undefined || value === null || ofStreams.has(name)) continue;
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

/** Messages without the item ids of the Responses API that an earlier message has. Parts of one message may share an item. */
const withOwnItems = (messages: readonly ModelMessage[]): readonly JsonObject[] => {
  const firstWith = new Map<Json, number>();
  return messages.map(({ content, ...message }, index) => {
    if (typeof content === "string") return { ...message, content };
    const ownOf = (options: JsonObject): JsonObject => {
      const { itemId, ...others } = options;
      if (itemId === undefined) return options;
      if (!firstWith.has(itemId)) firstWith.set(itemId, index);
      return firstWith.get(itemId) === index ? options : others;
    };
    const partOf = ({ providerOptions, ...part }: JsonObject): JsonObject => {
      if (!isObject(providerOptions)) return part;
      const own = Object.entries(providerOptions).map(([name, each]) => [name, isObject(each) ? ownOf(each) : each]);
      return { ...part, providerOptions: Object.fromEntries(own) as JsonObject };
    };
    return { ...message, content: content.map(partOf) };
  });
};

const unknownParameter = (name: string): string =>
  `aiSdkModel knows no parameter ${JSON.stringify(name)}: it takes the settings of streamText (${[...new Set(settingNames.values())].join(", ")}), toolChoice and providerOptions, where a provider takes what only it knows`;

const choices = 'give "auto", "none", "required", or { type: "tool", toolName }';

/** How the model is brought to write the output that the call wants, and which tools it may call. */
const wantedOf = (
  { output }: CallLlm,
  tools: readonly ToolDeclaration[],
  given: AiCallOptions["toolChoice"],
): AiRequest["wanted"] => {
  const only =
    tools.length > 1 ? { type: "required" as const } : { type: "tool" as const, toolName: output?.name ?? "" };
  const toolChoice = tools.length === 0 ? undefined : (given ?? (output?.mode === "tool" ? only : undefined));
  return {
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output?.mode === "native"
      ? { responseFormat: { type: "json", name: output.name, schema: strictSchema(output.schema) } }
      : {}),
  };
};

/** What says how an answer is sent, and nothing of what it is: it is always streamed. */
const ofStreams: ReadonlySet<string> = new Set(["stream", "stream_options"]);

/** Each setting by its own name, and by that of chat completions. */
const settingNames: ReadonlyMap<string, string> = new Map([
  ...["temperature", "seed", "reasoning"].map((name) => [name, name] as const),
  ...(
    [
      ["maxOutputTokens", "max_tokens", "max_completion_tokens"],
      ["topP", "top_p"],
      ["topK", "top_k"],
      ["presencePenalty", "presence_penalty"],
      ["frequencyPenalty", "frequency_penalty"],
      ["stopSequences", "stop"],
    ] as const
  ).flatMap((names) => names.map((name) => [name, names[0]] as const)),
]);

const choiceOf = (value: Json): AiCallOptions["toolChoice"] => {
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (!isObject(value)) return undefined;
  const { type, toolName, function: named } = value;
  const name = type === "function" && isObject(named) ? named["name"] : toolName;
  return (type === "tool" || type === "function") && isText(name) ? { type: "tool", toolName: name } : undefined;
};

/** By provider: what the call says stands over what the handler was given. */
const merged = (given: JsonObject, own: JsonObject): JsonObject => ({
  ...given,
  ...Object.fromEntries(
    Object.entries(own).map(([provider, options]): [string, Json] => {
      const before = given[provider];
      return [provider, isObject(before) && isObject(options) ? { ...before, ...options } : (options ?? null)];
    }),
  ),
});
