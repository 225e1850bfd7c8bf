import * as z from "zod/mini";
import type { ContentPart, JsonObject, ToolCallDraft } from "@colloquy/machine";
import { foreignPart } from "../exchange/foreign.ts";
import { eachItem, jsonValue, shaped, Unreadable } from "../exchange/import-problem.ts";
import { defined, isEmpty, isJsonObject, presentOf } from "../exchange/json.ts";
import {
  type Lose,
  loseIn,
  loseRest,
  type MessageFields,
  type Notebook,
  notebook,
  plainText,
  type Reading,
  replyDraft,
  type ReplyPart,
} from "../exchange/reading.ts";
import { partOfAiFile } from "./file.ts";
import { aiOptions, fieldsOfOptions } from "./provider-options.ts";
import { partOfAiText, reasoningOfAi, replyPartOfAiText } from "./text.ts";
import { callOfTool, resultOfTool, toolPart, type UiTool } from "./ui-tool.ts";

/** Reads the AI SDK's messages for people. @throws Unreadable */
export const readUiMessages = (messages: unknown): Reading => {
  const book = notebook();
  eachItem(messages, "UI messages", (item, index) => {
    const { id, role, parts: given, metadata, ...rest } = shaped(uiMessage, item, index, "a UI message");
    const parts = readUiParts(given, index);
    const lose = book.loseAt(index);
    loseRest(lose, "", rest, "UI messages are not known to have it");
    if (metadata !== undefined && metadata !== null && !isJsonObject(metadata))
      lose("metadata", "metadata", "a thread keeps metadata that is an object");
    const outer: Outer = { id, metadata: isJsonObject(metadata) ? metadata : undefined };
    if (role === "assistant") return readSteps(parts, outer, index, book);
    const fields = fieldsOf(parts, outer);
    const content = parts.flatMap((part, place) => contentOf(part, at(lose, place)));
    book.add(index, {
      role: role === "system" && fields.developer ? "developer" : role,
      content: plainText(content) ?? content,
      ...fields.said,
    });
  });
  return book;
};

const text = z.string();
const providerMetadata = z.optional(aiOptions);
const json = z.optional(jsonValue);

/** The schema of a message's fields, without its parts. */
const uiMessage = z.looseObject({
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
const steeringPart = z.looseObject({ id: text, parts: z.array(z.looseObject({ type: z.enum(["text", "file"]) })) });

type UiText = z.infer<typeof textPart>;

/** A part of a message, by how it is handled. */
type UiPart =
  | { readonly kind: "text"; readonly part: UiText }
  | { readonly kind: "reasoning"; readonly part: z.infer<typeof reasoningPart> }
  | { readonly kind: "file"; readonly part: z.infer<typeof filePart>; readonly value: JsonObject }
  | { readonly kind: "tool"; readonly part: UiTool; readonly name: string; readonly value: JsonObject }
  | { readonly kind: "steering"; readonly parts: readonly UiPart[] }
  | { readonly kind: "step" }
  | { readonly kind: "other"; readonly value: JsonObject };

const readUiParts = (values: readonly object[], index: number): readonly UiPart[] =>
  // Zod passes unknown fields through, and they were JSON before.
  values.map((value) => readUiPart(value as JsonObject, index));

const readUiPart = (value: JsonObject, index: number): UiPart => {
  const type = typeof value["type"] === "string" ? value["type"] : "";
  const what = `a part of the type ${JSON.stringify(type)}`;
  switch (type) {
    case "text":
      return { kind: type, part: shaped(textPart, value, index, what) };
    case "reasoning":
      return { kind: type, part: shaped(reasoningPart, value, index, what) };
    case "file":
      return { kind: type, part: shaped(filePart, value, index, what), value };
    case "step-start":
      return { kind: "step" };
    case "steering-message":
      return { kind: "steering", parts: readUiParts(shaped(steeringPart, value, index, what).parts, index) };
    default:
      if (otherTypes.includes(type) || type.startsWith("data-")) return { kind: "other", value };
  }
  if (type !== "dynamic-tool" && !type.startsWith("tool-"))
    throw new Unreadable(index, `item ${index} has ${what}, which UI messages are not known to have: leave it out`);
  const part = shaped(toolPart, value, index, what);
  const name = type === "dynamic-tool" ? part.toolName : type.slice("tool-".length);
  if (name !== undefined) return { kind: "tool", part, name, value };
  throw new Unreadable(index, `item ${index} has a dynamic tool without a toolName: give it`);
};

const otherTypes: readonly string[] = ["source-url", "source-document", "custom", "reasoning-file"];

/** The fields of a UI message itself. */
interface Outer {
  readonly id: string | undefined;
  readonly metadata: JsonObject | undefined;
}

/** Reads each step of a model as a reply with its results. A user message in between becomes its own message. */
const readSteps = (parts: readonly UiPart[], outer: Outer, index: number, book: Notebook): void => {
  let step: Step[] = [];
  let left: Outer = outer;
  const flush = (): void => {
    if (step.length > 0) {
      readStep(step, left, index, book);
      left = { id: undefined, metadata: undefined };
    }
    step = [];
  };
  for (const [place, part] of parts.entries()) {
    if (part.kind === "step") flush();
    else if (part.kind === "steering") {
      flush();
      const lose = at(book.loseAt(index), place);
      lose("", "that the user said it while the model was at work", "it is a user's message, in its place");
      const content = part.parts.flatMap((inner) => contentOf(inner, lose));
      book.add(index, { role: "user", content: plainText(content) ?? content });
    } else step.push({ part, place });
  }
  flush();
  if (left === outer) book.loseAt(index)("", "the message", "it says nothing");
};

interface Step {
  readonly part: UiPart;
  readonly place: number;
}

const readStep = (step: readonly Step[], outer: Outer, index: number, book: Notebook): void => {
  const parts: ReplyPart[] = [];
  const calls: ToolCallDraft[] = [];
  const results: (() => void)[] = [];
  let halfCalls = 0;
  for (const { part, place } of step) {
    const lose = at(book.loseAt(index), place);
    if (part.kind === "tool" && part.part.providerExecuted !== true) {
      if (part.part.state === "input-streaming") {
        const what = `call ${JSON.stringify(part.part.toolCallId)} of ${JSON.stringify(part.name)}`;
        const reason = `${what} in item ${index} was still being written: leave it out`;
        book.mend(index, reason, what, "it was still being written");
        halfCalls++;
        continue;
      }
      const call = callOfTool(part.part, part.name, part.value["type"]);
      calls.push(call);
      results.push(() => readResult(part.part, call.id, index, lose, book));
      continue;
    }
    const said = replyParts(part, lose);
    if (calls.length > 0 && said.length > 0)
      lose("", "its place behind a call", "a reply says what it says first, and calls last");
    parts.push(...said);
  }
  // If a step held only an unfinished call, the repair leaves nothing of it.
  if (parts.length === 0 && calls.length === 0 && halfCalls > 0) return;
  const fields = fieldsOf(
    step.map(({ part }) => part),
    outer,
  );
  book.add(index, replyDraft(parts, calls, fields.said));
  for (const result of results) result();
};

const readResult = (part: UiTool, id: string | null, index: number, lose: Lose, { add }: Notebook): void => {
  const result = resultOfTool(part);
  if (result === null) return;
  const { own, provider } = fieldsOfOptions(part.resultProviderMetadata);
  if (provider !== undefined) lose("resultProviderMetadata", "fields of its provider", "a result has none");
  const ended = typeof own["outcome"] === "string" ? own["outcome"] : result.outcome;
  if (ended !== "completed") lose("state", `the outcome "${ended}"`, "its content stands for it");
  add(index, { role: "tool", toolCallId: id, content: result.content });
};

const replyParts = (part: UiPart, lose: Lose): readonly ReplyPart[] => {
  if (part.kind === "text" && !isEmptied(part.part))
    return [withUi(replyPartOfAiText(part.part.text, part.part.providerMetadata), textFields(part.part, lose))];
  if (part.kind !== "reasoning") return contentOf(part, lose);
  const { text: said, state, id, providerMetadata: options } = part.part;
  loseState(state, lose);
  return [withUi(reasoningOfAi(said, options), presentOf({ id }))];
};

const contentOf = (part: UiPart, lose: Lose): readonly ContentPart[] => {
  switch (part.kind) {
    case "text":
      return isEmptied(part.part)
        ? []
        : [withUi(partOfAiText(part.part.text, part.part.providerMetadata), textFields(part.part, lose))];
    case "file": {
      const { mediaType, url, filename, providerReference: reference, providerMetadata: options } = part.part;
      const where = reference === undefined ? { url } : { reference };
      const isBoth = url !== "" && reference !== undefined;
      const file = { mediaType, ...where, ...defined({ filename }), options };
      return [(isBoth ? undefined : partOfAiFile(file, lose)) ?? foreignPart("ui", part.value)];
    }
    case "other":
    case "tool":
      return [foreignPart("ui", part.value)];
    case "reasoning":
      lose("", "reasoning", "only a model's message has some");
      return [];
    case "steering":
    case "step":
      return [];
  }
};

const textFields = ({ state, citations }: UiText, lose: Lose): JsonObject => {
  loseState(state, lose);
  return presentOf({ citations });
};

const loseState = (state: string | undefined, lose: Lose): void => {
  if (state === "streaming") lose("state", "that it was still being written", "a thread has no mark for that");
};

/** Returns whether a text is the marker for a message without parts. */
const isEmptied = (part: UiText): boolean =>
  part.text === "" && fieldsOfOptions(part.providerMetadata).own["empty"] === true;

const withUi = <Part extends ReplyPart>(part: Part, ui: JsonObject): Part =>
  isEmpty(ui) || part.type === "data"
    ? part
    : { ...part, provider: { ...("provider" in part ? part.provider : {}), ui } };

/**
 * Returns the fields of a message beside its parts. Ids that a thread created are dropped, since a thread creates new
 * ones.
 */
const fieldsOf = (
  parts: readonly UiPart[],
  { id, metadata }: Outer,
): { readonly said: MessageFields; readonly developer: boolean } => {
  const { name, provider, role } = parts.map(carriedBy).find((fields) => fields !== undefined) ?? {};
  const kept = isJsonObject(provider) ? provider : undefined;
  const ui = id === undefined || isThreadsOwn(id) ? undefined : { id };
  return {
    said: defined({
      name: typeof name === "string" ? name : undefined,
      metadata,
      provider: kept === undefined && ui === undefined ? undefined : { ...kept, ...defined({ ui }) },
    }),
    developer: role === "developer",
  };
};

const carriedBy = (part: UiPart): JsonObject | undefined => {
  if (part.kind !== "text" && part.kind !== "reasoning" && part.kind !== "file") return undefined;
  const { message } = fieldsOfOptions(part.part.providerMetadata).own;
  return isJsonObject(message) ? message : undefined;
};

const isThreadsOwn = (id: string): boolean => /^(s\d+|\d+\.\d+)$/.test(id);

const at = (lose: Lose, place: number): Lose => loseIn(lose, `parts.${place}`);
