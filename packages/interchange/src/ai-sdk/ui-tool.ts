import * as z from "zod/mini";
import {
  type ContentPart,
  contentText,
  type Json,
  type JsonObject,
  type ToolCallDraft,
  type ToolCallPart,
  type ToolOutcome,
  type ToolResultPart,
} from "@colloquy/machine";
import { fieldsFor, withoutField } from "../exchange/foreign.ts";
import { jsonObject, jsonValue } from "../exchange/import-problem.ts";
import { isEmpty, isJsonObject, parsedJson, presentOf } from "../exchange/json.ts";
import { plainText } from "../exchange/reading.ts";
import { markedText, notRun } from "./output.ts";
import { aiOptions, fieldsOfOptions, optionsOf, underName } from "./provider-options.ts";
import { argumentsOf, inputOf } from "./text.ts";

/** A part of a UI message, loosely typed: its type, and the fields of a part of that type. */
export interface UiMessagePart extends JsonObject {
  readonly type: string;
}

const text = z.string();
const json = z.optional(jsonValue);
const providerMetadata = z.optional(aiOptions);
const approval = z.looseObject({ id: text, approved: z.optional(z.boolean()), reason: z.optional(text) });
/** The schema of a call with its result. */
export const toolPart = z.looseObject({
  toolCallId: text,
  toolName: z.optional(text),
  state: z.enum([
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
  ]),
  input: json,
  rawInput: json,
  output: json,
  errorText: z.optional(text),
  preliminary: z.optional(z.boolean()),
  providerExecuted: z.optional(z.boolean()),
  title: z.optional(text),
  toolMetadata: json,
  dynamic: z.optional(z.boolean()),
  approval: z.optional(approval),
  callProviderMetadata: providerMetadata,
  resultProviderMetadata: providerMetadata,
});

export type UiTool = z.infer<typeof toolPart>;

/** Returns a `provider` without the fields of UI messages, which have their own members there; undefined for none. */
export const withoutUi = (provider: JsonObject | undefined): JsonObject | undefined =>
  provider?.["ui"] === undefined ? provider : withoutField(provider, "ui");

/**
 * Converts a call and its result to one part of the AI SDK. If the call gets another id, its own is kept beside it,
 * unless another call of its round has the same.
 */
export const toolPartOf = (
  { providerCallId, name, arguments: given, provider }: ToolCallPart,
  result: ToolResultPart | undefined,
  toolCallId: string,
  isOnlyOne: boolean,
): UiMessagePart => {
  const { input, own } = inputOf(given);
  const { type, title, toolMetadata, dynamic, approval } = fieldsFor(provider, "ui");
  const keepsId = providerCallId === null || (isOnlyOne && providerCallId !== toolCallId);
  const options = optionsOf(withoutUi(provider), { ...own, ...(keepsId ? { id: providerCallId } : {}) });
  return {
    ...(type === "dynamic-tool" ? { type, toolName: name } : { type: `tool-${name}` }),
    toolCallId,
    input,
    ...presentOf({ title, toolMetadata, dynamic }),
    ...(result === undefined ? { state: "input-available" } : endOf(result, approval)),
    ...underName("callProviderMetadata", options),
  };
};

/** Returns the call of a part. */
export const callOfTool = (part: UiTool, name: string, type: Json | undefined): ToolCallDraft => {
  const { own, provider } = fieldsOfOptions(part.callProviderMetadata);
  const { title, toolMetadata, dynamic, approval, input, rawInput } = part;
  const shown = { title, toolMetadata, dynamic, approval: isJsonObject(approval) ? approval : undefined };
  const ui = presentOf({ ...(type === "dynamic-tool" ? { type } : {}), ...shown });
  const isRaw = typeof own["arguments"] !== "string" && input === undefined && typeof rawInput === "string";
  const kept = { ...provider, ...(isEmpty(ui) ? {} : { ui }) };
  return {
    id: own["id"] === null || typeof own["id"] === "string" ? own["id"] : part.toolCallId,
    name,
    arguments: isRaw ? rawInput : argumentsOf(input === undefined ? rawInput : input, own),
    ...(provider === undefined && isEmpty(kept) ? {} : { provider: kept }),
  };
};

/** Returns the result in a part; null while there is none. */
export const resultOfTool = (
  part: UiTool,
): { readonly content: string | readonly ContentPart[]; readonly outcome: ToolOutcome } | null => {
  const { own } = fieldsOfOptions(part.resultProviderMetadata);
  const parts = z.array(contentPart).safeParse(own["content"] === true ? part.output : own["content"]).data;
  switch (part.state) {
    case "output-available":
      if (part.preliminary === true) return null;
      return { content: parts ?? contentOfOutput(part.output), outcome: "completed" };
    case "output-error": {
      const outcome = outcomes.find((each) => each === own["outcome"]);
      const said = part.errorText ?? "";
      return outcome === undefined
        ? { content: marked(said, "error-text"), outcome: "failed" }
        : { content: parts ?? said, outcome };
    }
    case "approval-responded":
    case "output-denied": {
      if (part.state === "approval-responded" && part.approval?.approved !== false) return null;
      return { content: marked(part.approval?.reason ?? notRun, "execution-denied"), outcome: "refused" };
    }
    default:
      return null;
  }
};

/** Returns the members of a part that tell how the call ended. */
const endOf = ({ content, outcome }: ToolResultPart, approval: Json | undefined): JsonObject => {
  const approved = isJsonObject(approval) ? approval["approved"] : undefined;
  const granted = approved === true ? { approval } : {};
  const plain = content.length === 0 ? "" : plainText(content);
  if (outcome !== "completed") {
    const options = optionsOf(undefined, { outcome, ...(plain === undefined ? { content: asJson(content) } : {}) });
    const metadata = underName("resultProviderMetadata", options);
    return { state: "output-error", errorText: contentText(content), ...granted, ...metadata };
  }
  const text = markedText(content);
  if (text?.type === "execution-denied" && approved === false) return { state: "output-denied", approval };
  if (text !== undefined && text.type !== "json") return { state: "output-error", errorText: text.value, ...granted };
  const options = optionsOf(undefined, plain === undefined && text === undefined ? { content: true } : {});
  return {
    state: "output-available",
    output: text === undefined ? (plain ?? asJson(content)) : (parsedJson(text.value) ?? text.value),
    ...granted,
    ...underName("resultProviderMetadata", options),
  };
};

const outcomes: readonly ToolOutcome[] = ["failed", "refused", "interrupted", "unknown"];

const contentOfOutput = (output: Json | undefined): string | readonly ContentPart[] => {
  if (output === undefined) return "";
  return typeof output === "string" ? output : marked(JSON.stringify(output), "json");
};

const marked = (text: string, output: string): readonly ContentPart[] => [{ type: "text", text, provider: { output } }];

/** The parts of a result as our export writes them. */
const contentPart = z.custom<ContentPart>(
  (value) =>
    z
      .discriminatedUnion("type", [
        z.strictObject({ type: z.literal("text"), text: z.string(), provider: z.optional(jsonObject) }),
        z.strictObject({ type: z.literal("data"), field: z.string(), value: z.unknown() }),
        z.strictObject({ type: z.literal("image"), url: z.string(), detail: z.optional(z.string()) }),
        z.strictObject({ type: z.literal("opaque"), value: jsonObject }),
      ])
      .safeParse(value).success,
);

/** Parts are plain JSON, but their types do not say so. */
const asJson = (content: readonly ContentPart[]): Json => content as readonly Json[] & readonly ContentPart[];
