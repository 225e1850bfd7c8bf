import * as z from "zod/mini";
import type { ContentPart, JsonObject, ToolCallDraft } from "@colloquy/machine";
import { foreignPart, placedBefore, placeOfAi } from "../exchange/foreign.ts";
import { eachItem, jsonValue, shaped } from "../exchange/import-problem.ts";
import { isEmpty, isJsonObject, without } from "../exchange/json.ts";
import {
  type Lose,
  loseIn,
  loseRest,
  type MessageFields,
  type Notebook,
  notebook,
  type Reading,
  replyDraft,
  type ReplyPart,
} from "../exchange/reading.ts";
import { aiFileIn, partOfAiFile } from "./file.ts";
import { contentOfOutput, notRun, toolOutput } from "./output.ts";
import { type AiOptions, aiOptions, fieldsOfOptions, ourName, withResultOptions } from "./provider-options.ts";
import { argumentsOf, partOfAiText, reasoningOfAi, replyPartOfAiText } from "./text.ts";

/** Reads the AI SDK's messages for models. @throws Unreadable */
export const readModelMessages = (messages: unknown): Reading => {
  const list = eachItem(messages, "model messages", (item, index) =>
    shaped(modelMessage, item, index, "a model message"),
  );
  const book = notebook();
  const approvals = approvalsOf(list);
  for (const [index, message] of list.entries()) {
    if (message.role === "assistant") readReply(message, index, book);
    else if (message.role === "tool") readResults(message, index, resultsFrom(list, index), approvals, book);
    else readInput(message, index, book);
  }
  return book;
};

const text = z.string();
const providerOptions = z.optional(aiOptions);

const textPart = z.looseObject({ type: z.literal("text"), text, providerOptions });
const filePart = z.looseObject({
  type: z.literal("file"),
  data: z.union([text, z.custom<JsonObject>(isJsonObject)], "expected a URL, bytes, or an object that says which"),
  mediaType: text,
  filename: z.optional(text),
  providerOptions,
});
const imagePart = z.looseObject({
  type: z.literal("image"),
  image: z.union([text, z.custom<JsonObject>(isJsonObject)], "expected a URL or bytes"),
  mediaType: z.optional(text),
  providerOptions,
});
const toolResult = z.looseObject({
  type: z.literal("tool-result"),
  toolCallId: text,
  toolName: text,
  output: toolOutput,
  providerOptions,
});
const assistantPart = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.looseObject({ type: z.literal("reasoning"), text, providerOptions }),
  z.looseObject({ type: z.literal("reasoning-file"), providerOptions }),
  z.looseObject({ type: z.literal("custom"), kind: text, providerOptions }),
  z.looseObject({
    type: z.literal("tool-call"),
    toolCallId: text,
    toolName: text,
    input: z.optional(jsonValue),
    providerExecuted: z.optional(z.boolean()),
    providerOptions,
  }),
  toolResult,
  z.looseObject({ type: z.literal("tool-approval-request"), approvalId: text, toolCallId: text }),
]);
const toolPart = z.discriminatedUnion("type", [
  toolResult,
  z.looseObject({
    type: z.literal("tool-approval-response"),
    approvalId: text,
    approved: z.boolean(),
    reason: z.optional(text),
  }),
]);

/** The schema of the fields that are read. */
const modelMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: text, providerOptions }),
  z.looseObject({
    role: z.literal("user"),
    content: z.union([text, z.array(z.discriminatedUnion("type", [textPart, filePart, imagePart]))]),
    providerOptions,
  }),
  z.looseObject({ role: z.literal("assistant"), content: z.union([text, z.array(assistantPart)]), providerOptions }),
  z.looseObject({ role: z.literal("tool"), content: z.array(toolPart), providerOptions }),
]);

type MessageRead = z.infer<typeof modelMessage>;
type MessageOf<Role extends MessageRead["role"]> = Extract<MessageRead, { role: Role }>;
type AssistantPart = z.infer<typeof assistantPart>;
type FilePart = z.infer<typeof filePart> | z.infer<typeof imagePart>;
type ToolResult = z.infer<typeof toolResult>;

const readInput = (message: MessageOf<"system" | "user">, index: number, { add, loseAt }: Notebook): void => {
  const lose = loseAt(index);
  const fields = fieldsOf(message, lose);
  if (message.role === "system") {
    const developer = fieldsOfOptions(message.providerOptions).own["role"] === "developer";
    return add(index, { role: developer ? "developer" : "system", content: message.content, ...fields });
  }
  const { content } = message;
  const parts =
    typeof content === "string"
      ? content
      : content.map((part, place) => {
          if (part.type !== "text") return partOfFile(part, at(lose, place));
          loseMembers(part, ["text"], at(lose, place));
          return partOfAiText(part.text, part.providerOptions);
        });
  add(index, { role: "user", content: parts, ...fields });
};

const readReply = (message: MessageOf<"assistant">, index: number, { add, loseAt }: Notebook): void => {
  const { content } = message;
  const fields = fieldsOf(message, loseAt(index));
  const list: readonly AssistantPart[] =
    typeof content !== "string" ? content : content === "" ? [] : [{ type: "text", text: content }];
  const own = new Set(list.flatMap((part) => (isOwnCall(part) ? part.toolCallId : [])));
  const parts: ReplyPart[] = [];
  let calls: readonly ToolCallDraft[] = [];
  const results: ToolResult[] = [];
  for (const [place, part] of list.entries()) {
    const lose = at(loseAt(index), place);
    if (isOwnCall(part)) calls = [...calls, callOf(part, lose)];
    else if (part.type === "tool-result" && own.has(part.toolCallId)) results.push(part);
    else if (part.type === "tool-approval-request") lose("", "an approval that was asked for", approvalsEnd);
    else {
      calls = placedBefore(parts.length, calls, placeOfAi);
      parts.push(replyPart(part, lose));
    }
  }
  add(index, replyDraft(parts, calls, fields));
  for (const result of results) addResult(result, index, add, loseAt(index));
};

/** Returns whether the caller answers a call, and not the provider itself. */
const isOwnCall = (part: AssistantPart): part is Extract<AssistantPart, { type: "tool-call" }> =>
  part.type === "tool-call" && part.providerExecuted !== true;

const approvalsEnd = "a thread keeps what came of it: the call's result";

const replyPart = (part: AssistantPart, lose: Lose): ReplyPart => {
  if (part.type === "file") return partOfFile(part, lose);
  if (part.type !== "text" && part.type !== "reasoning") return foreignPart("model", asJson(part));
  loseMembers(part, ["text"], lose);
  return (part.type === "text" ? replyPartOfAiText : reasoningOfAi)(part.text, part.providerOptions);
};

const callOf = (part: Extract<AssistantPart, { type: "tool-call" }>, lose: Lose): ToolCallDraft => {
  const { own, ...kept } = fieldsOfOptions(part.providerOptions);
  loseMembers(part, ["toolCallId", "toolName", "input", "providerExecuted"], lose);
  return {
    id: own["id"] === null ? null : part.toolCallId,
    name: part.toolName,
    arguments: argumentsOf(part.input, own),
    ...kept,
  };
};

const readResults = (
  { content, providerOptions: options }: MessageOf<"tool">,
  index: number,
  answered: ReadonlySet<string>,
  approvals: ReadonlyMap<string, string>,
  { add, loseAt }: Notebook,
): void => {
  loseRest(loseAt(index), "", { providerOptions: options }, "a result has no fields of a provider");
  for (const [place, part] of content.entries()) {
    const lose = at(loseAt(index), place);
    if (part.type === "tool-result") {
      addResult(part, index, add, lose);
      continue;
    }
    lose("", "the answer to an approval", approvalsEnd);
    const toolCallId = approvals.get(part.approvalId);
    // The SDK answers a denied call with this text; nothing has to run.
    if (!part.approved && toolCallId !== undefined && !answered.has(toolCallId))
      add(index, { role: "tool", toolCallId, content: part.reason ?? notRun });
  }
};

const addResult = (part: ToolResult, index: number, add: Notebook["add"], lose: Lose): void => {
  const { own, provider } = fieldsOfOptions(part.providerOptions);
  const { outcome: kept } = own;
  const { content, outcome } = contentOfOutput(part.output, typeof kept === "string", lose);
  const { [ourName]: _, ...options } = part.providerOptions ?? {};
  const marked = isEmpty(options) ? undefined : withResultOptions(content, options);
  if (provider !== undefined && marked === undefined)
    lose("providerOptions", "options of its provider", "a result has no fields of a provider");
  loseMembers(part, ["toolCallId", "toolName", "output"], lose);
  const ended = typeof kept === "string" ? kept : outcome;
  if (ended !== "completed") lose("output", `the outcome "${ended}"`, "its content stands for it");
  add(index, { role: "tool", toolCallId: own["id"] === null ? null : part.toolCallId, content: marked ?? content });
};

/** Returns the call of each approval. */
const approvalsOf = (list: readonly MessageRead[]): ReadonlyMap<string, string> =>
  new Map(
    list.flatMap(({ role, content }) =>
      role !== "assistant" || typeof content === "string"
        ? []
        : content.flatMap((part) =>
            part.type === "tool-approval-request" ? [[part.approvalId, part.toolCallId] as const] : [],
          ),
    ),
  );

/** Returns the calls with results in the consecutive tool messages from an index on. */
const resultsFrom = (list: readonly MessageRead[], index: number): ReadonlySet<string> => {
  const answered = new Set<string>();
  for (let next = index; next < list.length; next++) {
    const message = list[next];
    if (message?.role !== "tool") break;
    for (const part of message.content) if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  return answered;
};

const partOfFile = (part: FilePart, lose: Lose): ContentPart => {
  const data = part.type === "image" ? part.image : part.data;
  const filename = part.type === "file" ? part.filename : undefined;
  const file = aiFileIn(typeof data === "string" ? { data } : data, part.mediaType ?? "image", filename);
  const read = file === undefined ? undefined : partOfAiFile({ ...file, options: part.providerOptions }, lose);
  if (read === undefined) return foreignPart("model", asJson(part));
  loseMembers(part, ["data", "image", "mediaType", "filename"], lose);
  return read;
};

const fieldsOf = (
  message: { readonly role: string; readonly content: unknown; readonly providerOptions?: AiOptions | undefined },
  lose: Lose,
): MessageFields => {
  const { own, ...kept } = fieldsOfOptions(message.providerOptions);
  const { name, metadata } = own;
  loseMembers(message, ["role", "content"], lose);
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
    ...kept,
  };
};

/** Reports the members of a message or part that were not read. */
const loseMembers = (value: object, read: readonly string[], lose: Lose): void => {
  const rest = without(asJson(value), [...read, "type", "providerOptions"]);
  loseRest(lose, "", rest, "model messages are not known to have it");
};

const at = (lose: Lose, place: number): Lose => loseIn(lose, `content.${place}`);

/** The part was JSON before it was read. */
const asJson = (part: object): JsonObject => part as JsonObject;
