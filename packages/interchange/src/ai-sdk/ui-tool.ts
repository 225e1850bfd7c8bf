import * as z from "zod/mini";
import { contentText } from "@colloquy/machine";
import type {
  Json,
  JsonObject,
  ContentPart,
  ToolCallDraft,
  ToolCallPart,
  ToolOutcome,
  ToolResultPart,
} from "@colloquy/machine";
import { argumentsOf, inputOf, parsedJson } from "./arguments.ts";
import { fieldsOfOptions, optionsOf, underName } from "./provider-options.ts";
import { markedText, notRun } from "./output.ts";
import { jsonObject } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { fieldsFor, presentOf } from "../exchange/foreign.ts";
import { plainText } from "../exchange/reply-draft.ts";
import { withoutUi } from "./ui-part.ts";
import type { UiMessagePart, UiTool } from "./ui-message.ts";

/**
 * Converts a call and its result to one part of the AI SDK. If the call gets another id, its own is kept beside it,
 * unless another call of its round has the same.
 */
export const toolPartOf = (
  call: ToolCallPart,
  result: ToolResultPart | undefined,
  toolCallId: string,
  isOnlyOne: boolean,
): UiMessagePart => {
  const { input, own } = inputOf(call.arguments);
  const { type, title, toolMetadata, dynamic, approval } = fieldsFor(call.provider, "ui");
  const ended = result === undefined ? { state: "input-available" } : endOf(result, approval);
  const options = optionsOf(withoutUi(call.provider), {
    ...own,
    ...(call.providerCallId === null || (isOnlyOne && call.providerCallId !== toolCallId)
      ? { id: call.providerCallId }
      : {}),
  });
  return {
    ...(type === "dynamic-tool" ? { type, toolName: call.name } : { type: `tool-${call.name}` }),
    toolCallId,
    input,
    ...presentOf({ title, toolMetadata, dynamic }),
    ...ended,
    ...underName("callProviderMetadata", options),
  };
};

/** Returns the call of a part. */
export const callOfTool = (part: UiTool, name: string, type: Json | undefined): ToolCallDraft => {
  const { own, provider } = fieldsOfOptions(part.callProviderMetadata);
  const { title, toolMetadata, dynamic, approval } = part;
  const shown = { title, toolMetadata, dynamic, approval: isJsonObject(approval) ? approval : undefined };
  const ui = presentOf({ ...(type === "dynamic-tool" ? { type } : {}), ...shown });
  const raw = part.input === undefined ? part.rawInput : part.input;
  const given = typeof own["arguments"] === "string" ? own : rawArguments(part);
  const kept = { ...provider, ...(Object.keys(ui).length === 0 ? {} : { ui }) };
  return {
    id: own["id"] === null || typeof own["id"] === "string" ? own["id"] : part.toolCallId,
    name,
    arguments: argumentsOf(raw, given),
    ...(provider === undefined && Object.keys(kept).length === 0 ? {} : { provider: kept }),
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
const endOf = (result: ToolResultPart, approval: Json | undefined): JsonObject => {
  const { content, outcome } = result;
  const approved = isJsonObject(approval) ? approval["approved"] : undefined;
  const granted = approved === true ? { approval } : {};
  if (outcome !== "completed") {
    const parts = content.length === 0 || plainText(content) !== undefined ? {} : { content: asJson(content) };
    const options = optionsOf(undefined, { outcome, ...parts });
    return {
      state: "output-error",
      errorText: contentText(content),
      ...granted,
      ...underName("resultProviderMetadata", options),
    };
  }
  const text = markedText(content);
  if (text?.type === "execution-denied" && approved === false) return { state: "output-denied", approval };
  if (text !== undefined && text.type !== "json") return { state: "output-error", errorText: text.value, ...granted };
  const plain = content.length === 0 ? "" : plainText(content);
  const options = optionsOf(undefined, plain === undefined && text === undefined ? { content: true } : {});
  return {
    state: "output-available",
    output: text === undefined ? (plain ?? asJson(content)) : (parsedJson(text.value) ?? text.value),
    ...granted,
    ...underName("resultProviderMetadata", options),
  };
};

const outcomes: readonly ToolOutcome[] = ["failed", "refused", "interrupted", "unknown"];

const rawArguments = ({ input, rawInput }: UiTool): JsonObject =>
  input === undefined && typeof rawInput === "string" ? { arguments: rawInput } : {};

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
