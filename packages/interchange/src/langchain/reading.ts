import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import { foreignPart, providerOf } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, problem, shaped } from "../exchange/import-problem.ts";
import { excerpt, isJsonObject } from "../exchange/json-object.ts";
import { saysNothing } from "../exchange/loss.ts";
import { notebook, type Notebook, type Reading } from "../exchange/piece.ts";
import { type MessageFields, plainText, replyDraft } from "../exchange/reply-draft.ts";
import { contentPartsOf, fieldsType, partsOf } from "./content.ts";
import {
  ourName,
  roleMark,
  exactCalls,
  type StoredData,
  storedMessage,
  type StoredMessageRead,
} from "./stored-message.ts";

/** Reads messages that LangChain stored. */
export const readLangChainMessages = (messages: unknown): Either.Either<ImportProblem, Reading> => {
  const book = notebook();
  const read = eachItem(messages, "messages of LangChain", (item, index) =>
    Either.chain((message: StoredMessageRead) => readMessage(message, index, book))(
      shaped(storedMessage, item, index, 'a message as LangChain stores it ({ type: "human", data: { content } })'),
    ),
  );
  return Either.map((): Reading => book)(read);
};

/** Reads the reply in an AI message, or returns why it is invalid. */
export const replyFromLangChainMessage = (message: unknown): Either.Either<string, ReplyDraft> => {
  const parsed = shaped(storedMessage, message as JsonObject, 0, "a message as LangChain stores it");
  if (Either.isLeft(parsed)) return Either.left(parsed.left.reason);
  const { role: _, metadata: __, ...reply } = replyOf(parsed.right.data);
  return Either.right(reply);
};

const readMessage = (
  { type, data }: StoredMessageRead,
  index: number,
  book: Notebook,
): Either.Either<ImportProblem, null> => {
  const role = roles.get(isGeneric(type) ? (data.role ?? "") : type);
  switch (role) {
    case "assistant":
      book.add(index, replyOf(data));
      break;
    case "tool":
      readResult(data, index, book);
      break;
    case "user":
    case "system":
    case "developer": {
      const developer = role === "system" && data.additional_kwargs?.[roleMark] === "developer";
      const parts = contentPartsOf(data.content);
      const content = parts.length === 0 ? "" : (plainText(parts) ?? parts);
      book.add(index, { role: developer ? "developer" : role, content, ...fieldsOf(data) });
      break;
    }
    default:
      return problem(index, `item ${index} is ${described(type, data)}`);
  }
  return Either.right(null);
};

type ReadRole = "user" | "assistant" | "system" | "developer" | "tool";

/** The roles by message type. A generic message has the role that its author wrote. */
const roles: ReadonlyMap<string, ReadRole> = new Map<string, ReadRole>([
  ["human", "user"],
  ["user", "user"],
  ["ai", "assistant"],
  ["assistant", "assistant"],
  ["system", "system"],
  ["developer", "developer"],
  ["tool", "tool"],
]);

/** Python says "chat", and JavaScript says "generic". */
const isGeneric = (type: string): boolean => type === "generic" || type === "chat";

const described = (type: string, { role }: StoredData): string => {
  if (type === "function") return "the result of a function of the time before tools; give it as a tool message";
  if (type === "remove") return "no message: it removes another one; give the messages that are left";
  return isGeneric(type)
    ? `a message of the role ${excerpt(role ?? null)}; give one of human, ai, system, developer`
    : `a message of the type ${excerpt(type)}; give one of human, ai, system, tool`;
};

const replyOf = (data: StoredData) => {
  const kwargs = data.additional_kwargs ?? {};
  const thought = kwargs[thoughts];
  const spoken = typeof thought === "string" ? [reasoned(thought)] : [];
  return replyDraft([...spoken, ...partsOf(data.content)], callsOf(data), fieldsOf(data, [thoughts]));
};

/** The field in which integrations put reasoning beside the content. */
export const thoughts = "reasoning_content";

const reasoned = (text: string) => ({ type: "reasoning" as const, text, provider: { fields: [thoughts] } });

/**
 * Reads the calls of a message. Valid and invalid calls are in separate lists. If our own export also wrote the calls
 * exactly, these are used, with their order and texts.
 */
const callsOf = (data: StoredData): readonly ToolCallDraft[] => {
  const valid = (data.tool_calls ?? []).map((call) => draftOf(call, JSON.stringify(call.args ?? {})));
  const calls = [...valid, ...(data.invalid_tool_calls ?? []).map((call) => draftOf(call, call.args ?? ""))];
  const exact = exactCalls.safeParse(ownOf(data)["calls"]).data ?? [];
  const same = exact.length === calls.length && exact.every(({ id }) => calls.some((call) => call.id === id));
  return same ? exact : calls;
};

const draftOf = (
  { id, name }: { readonly id?: string | null | undefined; readonly name?: string | null | undefined },
  text: string,
): ToolCallDraft => ({ id: id ?? null, name: name ?? "", arguments: text });

/** Returns our own fields. */
const ownOf = ({ additional_kwargs: kwargs }: StoredData): JsonObject => {
  const own = kwargs?.[ourName];
  return isJsonObject(own) ? own : {};
};

const readResult = (data: StoredData, index: number, { add, loseAt }: Notebook): void => {
  const { tool_call_id: toolCallId, status } = data;
  const { outcome } = ownOf(data);
  const parts = contentPartsOf(data.content);
  const { langchain } = fieldsOf(data).provider ?? {};
  const fields = {
    ...(isJsonObject(langchain) ? langchain : {}),
    ...(typeof outcome !== "string" && status === "error" ? { status } : {}),
  };
  if (typeof outcome === "string") loseAt(index)("status", `the outcome "${outcome}"`, "its content stands for it");
  const marked = Object.keys(fields).length === 0 ? [] : [foreignPart("langchain", { type: fieldsType, fields })];
  const content = [...parts, ...marked];
  add(index, { role: "tool", toolCallId: toolCallId ?? null, content: plainText(content) ?? content });
};

/** Returns the fields of a message beside its content: its name, and everything that LangChain may want back. */
const fieldsOf = (data: StoredData, read: readonly string[] = []): MessageFields => {
  const own = ownOf(data);
  const langchain = saying(data, [
    "additional_kwargs",
    "content",
    "name",
    "role",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_id",
    "status",
  ]);
  const kwargs = saying(data.additional_kwargs ?? {}, [ourName, roleMark, ...read]);
  return {
    ...(data.name ? { name: data.name } : {}),
    ...(isJsonObject(own["metadata"]) ? { metadata: own["metadata"] } : {}),
    ...providerOf({
      ...(isJsonObject(own["provider"]) ? own["provider"] : {}),
      langchain: { ...langchain, ...saying({ additional_kwargs: kwargs }, []) },
    }),
  };
};

/** Returns the non-empty members that are not read elsewhere. Unknown members are JSON too. */
const saying = (members: { readonly [field: string]: unknown }, read: readonly string[]): JsonObject =>
  Object.fromEntries<Json>(
    Object.entries(members).filter(
      (member): member is [string, Json] => !read.includes(member[0]) && !saysNothing(member[1]),
    ),
  );
