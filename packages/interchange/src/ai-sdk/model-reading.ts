import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, ContentPart, ToolCallDraft } from "@colloquy/machine";
import { argumentsOf } from "./arguments.ts";
import { type AiFile, dataUrlOf, isUrlText, partOfAiFile, typeOfDataUrl } from "./file.ts";
import { type AiOptions, fieldsOfOptions, ourName, withResultOptions } from "./provider-options.ts";
import { contentOfOutput, notRun } from "./output.ts";
import { partOfAiText, reasoningOfAi, replyPartOfAiText } from "./text.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { placedBefore } from "../exchange/call-order.ts";
import { foreignPart, placeOfAi } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, shaped } from "../exchange/import-problem.ts";
import { type Lose, loseIn, loseRest } from "../exchange/loss.ts";
import type { AssistantPart, FilePart, ModelMessageRead, ToolMessageRead, ToolResultRead } from "./model-message.ts";
import { modelMessage } from "./model-message.ts";
import { notebook, type Notebook, type Reading } from "../exchange/piece.ts";
import { type MessageFields, replyDraft, type ReplyPart } from "../exchange/reply-draft.ts";

/** Reads the AI SDK's messages for models. */
export const readModelMessages = (messages: unknown): Either.Either<ImportProblem, Reading> =>
  Either.map((list: readonly ModelMessageRead[]) => {
    const book = notebook();
    const approvals = approvalsOf(list);
    for (const [index, message] of list.entries()) {
      if (message.role === "assistant") readReply(message.content, fieldsOf(message, book.loseAt(index)), index, book);
      else if (message.role === "tool") readResults(message, index, resultsFrom(list, index), approvals, book);
      else readInput(message, index, book);
    }
    return book;
  })(
    eachItem<ModelMessageRead>(messages, "model messages", (item, index) =>
      shaped(modelMessage, item, index, "a model message"),
    ),
  );

type Approvals = ReadonlyMap<string, string>;

const readInput = (
  message: Extract<ModelMessageRead, { role: "system" | "user" }>,
  index: number,
  { add, loseAt }: Notebook,
): void => {
  const lose = loseAt(index);
  const fields = fieldsOf(message, lose);
  if (message.role === "system") {
    const developer = fieldsOfOptions(message.providerOptions).own["role"] === "developer";
    add(index, { role: developer ? "developer" : "system", content: message.content, ...fields });
    return;
  }
  const { content } = message;
  const parts =
    typeof content === "string"
      ? content
      : content.map((part, place) => {
          if (part.type !== "text") return filePart(part, at(lose, place));
          loseMembers(part, ["text"], at(lose, place));
          return partOfAiText(part.text, part.providerOptions);
        });
  add(index, { role: "user", content: parts, ...fields });
};

const readReply = (
  content: string | readonly AssistantPart[],
  fields: MessageFields,
  index: number,
  { add, loseAt }: Notebook,
): void => {
  const list = typeof content === "string" ? textParts(content) : content;
  const own = new Set(list.flatMap((part) => (isOwnCall(part) ? part.toolCallId : [])));
  const parts: ReplyPart[] = [];
  let calls: readonly ToolCallDraft[] = [];
  const results: ToolResultRead[] = [];
  for (const [place, part] of list.entries()) {
    const lose = at(loseAt(index), place);
    if (part.type === "tool-call" && isOwnCall(part)) calls = [...calls, callOf(part, lose)];
    else if (part.type === "tool-result" && own.has(part.toolCallId)) results.push(part);
    else if (part.type === "tool-approval-request") lose("", "an approval that was asked for", approvalsEnd);
    else {
      calls = placedBefore(parts.length, calls, placeOfAi);
      parts.push(replyPart(part, lose));
    }
  }
  add(index, replyDraft(parts, calls, fields));
  for (const result of results) addResult(result, index, { add, loseAt }, loseAt(index));
};

const textParts = (text: string): readonly AssistantPart[] => (text === "" ? [] : [{ type: "text", text }]);

/** Returns whether the caller answers a call, and not the provider itself. */
const isOwnCall = (part: AssistantPart): part is Extract<AssistantPart, { type: "tool-call" }> =>
  part.type === "tool-call" && part.providerExecuted !== true;

const approvalsEnd = "a thread keeps what came of it: the call's result";

const replyPart = (part: AssistantPart, lose: Lose): ReplyPart => {
  switch (part.type) {
    case "text":
      loseMembers(part, ["text"], lose);
      return replyPartOfAiText(part.text, part.providerOptions);
    case "reasoning":
      loseMembers(part, ["text"], lose);
      return reasoningOfAi(part.text, part.providerOptions);
    case "file":
      return filePart(part, lose);
    default:
      return foreignPart("model", asJson(part));
  }
};

const callOf = (part: Extract<AssistantPart, { type: "tool-call" }>, lose: Lose): ToolCallDraft => {
  const { own, provider } = fieldsOfOptions(part.providerOptions);
  loseMembers(part, ["toolCallId", "toolName", "input", "providerExecuted"], lose);
  return {
    id: own["id"] === null ? null : part.toolCallId,
    name: part.toolName,
    arguments: argumentsOf(part.input, own),
    ...(provider === undefined ? {} : { provider }),
  };
};

const readResults = (
  message: ToolMessageRead,
  index: number,
  answered: ReadonlySet<string>,
  approvals: Approvals,
  book: Notebook,
): void => {
  const lose = book.loseAt(index);
  loseRest(lose, "", { providerOptions: message.providerOptions }, "a result has no fields of a provider");
  for (const [place, part] of message.content.entries()) {
    if (part.type === "tool-result") {
      addResult(part, index, book, at(lose, place));
      continue;
    }
    at(lose, place)("", "the answer to an approval", approvalsEnd);
    const toolCallId = approvals.get(part.approvalId);
    // The SDK answers a denied call with this text; nothing has to run.
    if (!part.approved && toolCallId !== undefined && !answered.has(toolCallId))
      book.add(index, { role: "tool", toolCallId, content: part.reason ?? notRun });
  }
};

const addResult = (
  part: ToolResultRead,
  index: number,
  { add }: Pick<Notebook, "add" | "loseAt">,
  lose: Lose,
): void => {
  const { own, provider } = fieldsOfOptions(part.providerOptions);
  const { content, outcome } = contentOfOutput(part.output, typeof own["outcome"] === "string", lose);
  const { [ourName]: _, ...options } = part.providerOptions ?? {};
  const marked = Object.keys(options).length === 0 ? undefined : withResultOptions(content, options);
  if (provider !== undefined && marked === undefined)
    lose("providerOptions", "options of its provider", "a result has no fields of a provider");
  loseMembers(part, ["toolCallId", "toolName", "output"], lose);
  const ended = typeof own["outcome"] === "string" ? own["outcome"] : outcome;
  if (ended !== "completed") lose("output", `the outcome "${ended}"`, "its content stands for it");
  add(index, { role: "tool", toolCallId: own["id"] === null ? null : part.toolCallId, content: marked ?? content });
};

/** Returns the call of each approval. */
const approvalsOf = (list: readonly ModelMessageRead[]): Approvals =>
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
const resultsFrom = (list: readonly ModelMessageRead[], index: number): ReadonlySet<string> => {
  const answered = new Set<string>();
  for (let next = index; next < list.length; next++) {
    const message = list[next];
    if (message?.role !== "tool") break;
    for (const part of message.content) if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  return answered;
};

const filePart = (part: FilePart, lose: Lose): ContentPart => {
  const file = fileOf(part);
  const read = file === undefined ? undefined : partOfAiFile({ ...file, options: part.providerOptions }, lose);
  if (read === undefined) return foreignPart("model", asJson(part));
  loseMembers(part, ["data", "image", "mediaType", "filename"], lose);
  return read;
};

const fileOf = (part: FilePart): AiFile | undefined => {
  const data = part.type === "image" ? part.image : part.data;
  const mediaType = part.mediaType ?? "image";
  const filename = part.type === "file" && part.filename !== undefined ? { filename: part.filename } : {};
  const inner = typeof data === "string" ? { data } : data;
  const { url, bytes } = inner;
  const given = typeof inner["data"] === "string" ? inner["data"] : (bytesOf(inner["data"]) ?? bytes);
  if (typeof url === "string") return { mediaType, url, ...filename };
  if (isJsonObject(inner["reference"])) return { mediaType, reference: inner["reference"], ...filename };
  if (typeof given !== "string") return undefined;
  const found = isUrlText(given) ? given : dataUrlOf(given, mediaType);
  return found === undefined ? undefined : { mediaType: typeOfDataUrl(found) ?? mediaType, url: found, ...filename };
};

const bytesOf = (value: unknown): string | undefined =>
  isJsonObject(value) && typeof value["bytes"] === "string" ? value["bytes"] : undefined;

const fieldsOf = (
  message: { readonly role: string; readonly content: unknown; readonly providerOptions?: AiOptions | undefined },
  lose: Lose,
): MessageFields => {
  const { own, provider } = fieldsOfOptions(message.providerOptions);
  const { name, metadata } = own;
  loseMembers(message, ["role", "content"], lose);
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
    ...(provider === undefined ? {} : { provider }),
  };
};

/** Reports the members of a message or part that were not read. */
const loseMembers = (value: object, read: readonly string[], lose: Lose): void =>
  loseRest(
    lose,
    "",
    Object.fromEntries(Object.entries(value).filter(([key]) => ![...read, "type", "providerOptions"].includes(key))),
    "model messages are not known to have it",
  );

const at = (lose: Lose, place: number): Lose => loseIn(lose, `content.${place}`);

/** The part was JSON before it was read. */
const asJson = (part: object): JsonObject => part as JsonObject;
