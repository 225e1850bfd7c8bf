import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { JsonObject } from "@colloquy/machine";
import { aiOptions } from "./provider-options.ts";
import { type ImportProblem, jsonValue, problem, shaped } from "../exchange/import-problem.ts";

/** A message in the AI SDK's form for people (`UIMessage`), as plain JSON. */
export interface UiMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly UiMessagePart[];
  readonly metadata?: JsonObject;
}

/** A part of it, loosely typed: its type, and the fields of a part of that type. */
export interface UiMessagePart extends JsonObject {
  readonly type: string;
}

const text = z.string();
const providerMetadata = z.optional(aiOptions);
const json = z.optional(jsonValue);

/** The schema of a message's fields, without its parts. */
export const uiMessage = z.looseObject({
  id: z.optional(text),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: text })),
  metadata: json,
});

const textPart = z.looseObject({ text, state: z.optional(text), citations: json, providerMetadata });
const reasoningPart = z.looseObject({ text, id: z.optional(text), state: z.optional(text), providerMetadata });
const filePart = z.looseObject({
  mediaType: text,
  url: text,
  filename: z.optional(text),
  providerReference: z.optional(z.record(text, text)),
  providerMetadata,
});
const approval = z.looseObject({ id: text, approved: z.optional(z.boolean()), reason: z.optional(text) });
const toolPart = z.looseObject({
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
const steeringPart = z.looseObject({ id: text, parts: z.array(z.looseObject({ type: z.enum(["text", "file"]) })) });

export type UiText = z.infer<typeof textPart>;
export type UiReasoning = z.infer<typeof reasoningPart>;
export type UiFile = z.infer<typeof filePart>;
export type UiTool = z.infer<typeof toolPart>;

/** A part of a message, by how it is handled. */
export type UiPart =
  | { readonly kind: "text"; readonly part: UiText }
  | { readonly kind: "reasoning"; readonly part: UiReasoning }
  | { readonly kind: "file"; readonly part: UiFile; readonly value: JsonObject }
  | { readonly kind: "tool"; readonly part: UiTool; readonly name: string; readonly value: JsonObject }
  | { readonly kind: "steering"; readonly parts: readonly UiPart[] }
  | { readonly kind: "step" }
  | { readonly kind: "other"; readonly value: JsonObject };

/** Reads a part, or returns what is wrong with it. */
const readUiPart = (value: JsonObject, index: number): Either.Either<ImportProblem, UiPart> => {
  const type = typeof value["type"] === "string" ? value["type"] : "";
  const what = `a part of the type ${JSON.stringify(type)}`;
  switch (type) {
    case "text":
      return Either.map((part: UiText): UiPart => ({ kind: type, part }))(shaped(textPart, value, index, what));
    case "reasoning":
      return Either.map((part: UiReasoning): UiPart => ({ kind: type, part }))(
        shaped(reasoningPart, value, index, what),
      );
    case "file":
      return Either.map((part: UiFile): UiPart => ({ kind: type, part, value }))(shaped(filePart, value, index, what));
    case "step-start":
      return Either.right({ kind: "step" });
    case "steering-message":
      return Either.chain(({ parts }: z.infer<typeof steeringPart>) =>
        // Zod passes unknown fields through, and they were JSON before.
        Either.map((read: readonly UiPart[]): UiPart => ({ kind: "steering", parts: read }))(
          readUiParts(parts as readonly JsonObject[], index),
        ),
      )(shaped(steeringPart, value, index, what));
    default:
      if (type === "dynamic-tool" || type.startsWith("tool-")) return readToolPart(value, type, index);
      return others.includes(type) || type.startsWith("data-")
        ? Either.right({ kind: "other", value })
        : problem(index, `item ${index} has ${what}, which UI messages are not known to have: leave it out`);
  }
};

/** Reads parts up to the first unreadable one. */
export const readUiParts = (
  values: readonly JsonObject[],
  index: number,
): Either.Either<ImportProblem, readonly UiPart[]> => {
  const parts: UiPart[] = [];
  for (const value of values) {
    const part = readUiPart(value, index);
    if (Either.isLeft(part)) return part;
    parts.push(part.right);
  }
  return Either.right(parts);
};

const others: readonly string[] = ["source-url", "source-document", "custom", "reasoning-file"];

const readToolPart = (value: JsonObject, type: string, index: number): Either.Either<ImportProblem, UiPart> =>
  Either.chain((part: UiTool): Either.Either<ImportProblem, UiPart> => {
    const name = type === "dynamic-tool" ? part.toolName : type.slice("tool-".length);
    if (name === undefined) return problem(index, `item ${index} has a dynamic tool without a toolName: give it`);
    return Either.right({ kind: "tool", part, name, value });
  })(shaped(toolPart, value, index, `a part of the type ${JSON.stringify(type)}`));
