import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { Json, JsonObject, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import { fieldsFor, foreignPart, providerOf } from "../exchange/foreign.ts";
import { caught, eachItem, jsonObject, jsonValue, shaped, Unreadable } from "../exchange/import-problem.ts";
import { excerpt, isEmpty, isJsonObject } from "../exchange/json.ts";
import {
  type MessageFields,
  type Notebook,
  notebook,
  plainText,
  type Reading,
  replyDraft,
  saysNothing,
} from "../exchange/reading.ts";
import { contentPartsOf, fieldsType, partsOf } from "./content.ts";

/** Reads messages that LangChain stored. @throws Unreadable */
export const readLangChainMessages = (messages: unknown): Reading => {
  const book = notebook();
  eachItem(messages, "messages of LangChain", (item, index) => {
    const what = 'a message as LangChain stores it ({ type: "human", data: { content } })';
    readMessage(shaped(storedMessage, item, index, what), index, book);
  });
  return book;
};

/** Reads the reply in an AI message, or returns why it is invalid. */
export const replyFromLangChainMessage = (message: unknown): Either.Either<string, ReplyDraft> => {
  // The schema checks the message.
  const read = caught(() => shaped(storedMessage, message as Json, 0, "a message as LangChain stores it"));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { role: _, metadata: __, ...reply } = replyOf(read.right.data);
  return Either.right(reply);
};

const text = z.nullish(z.string());

/** The schema of the data that is read. Versions and integrations differ in what they leave out. */
const data = z.looseObject({
  content: z.nullish(z.union([z.string(), z.array(z.union([z.string(), jsonObject]))])),
  name: text,
  role: text,
  additional_kwargs: z.nullish(jsonObject),
  tool_calls: z.nullish(z.array(z.looseObject({ id: text, name: z.string(), args: z.nullish(jsonValue) }))),
  invalid_tool_calls: z.nullish(z.array(z.looseObject({ id: text, name: text, args: text, error: text }))),
  tool_call_id: text,
  status: text,
});

type StoredData = z.infer<typeof data>;

/**
 * The schema of a message in LangChain's stored form, or in one of two other serialised forms: `{ lc: 1, id: […,
 * "HumanMessage"], kwargs }` (`JSON.stringify` in JavaScript, `dumpd` in Python), and one flat object (`model_dump` in
 * Python, and LangGraph's server).
 */
const storedMessage = z.pipe(
  z.transform((value: unknown) => (isJsonObject(value) ? asStored(value) : value)),
  z.looseObject({ type: z.string(), data }),
);

const asStored = (message: JsonObject): unknown => {
  const { lc, id, kwargs, ...flat } = message;
  if (lc === 1 && Array.isArray(id) && isJsonObject(kwargs)) return flatAsStored(kwargs, String(id.at(-1)));
  return "data" in flat || typeof flat["type"] !== "string" ? message : flatAsStored(message, flat["type"]);
};

/** `className` may be a type already. */
const flatAsStored = ({ type: _, ...fields }: JsonObject, className: string) => ({
  type: className.replace(/Message(?:Chunk)?$/, "").toLowerCase(),
  data: fields,
});

/** The calls as our export writes them beside LangChain's, if those cannot hold all of their fields. */
const exactCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));

/** The key in `additional_kwargs` of fields that LangChain has no place for. */
export const ourName = "colloquy";

/** LangChain's own mark of a system message that goes to OpenAI as a developer message. */
export const roleMark = "__openai_role__";

/** The field in which integrations put reasoning beside the content. */
export const thoughts = "reasoning_content";

const readMessage = ({ type, data: said }: z.infer<typeof storedMessage>, index: number, book: Notebook): void => {
  const role = roles.get(isGeneric(type) ? (said.role ?? "") : type);
  if (role === undefined) throw new Unreadable(index, `item ${index} is ${described(type, said)}`);
  if (role === "assistant") return book.add(index, replyOf(said));
  if (role === "tool") return readResult(said, index, book);
  const developer = role === "system" && said.additional_kwargs?.[roleMark] === "developer";
  const parts = contentPartsOf(said.content);
  const content = parts.length === 0 ? "" : (plainText(parts) ?? parts);
  book.add(index, { role: developer ? "developer" : role, content, ...fieldsOf(said) });
};

/** The roles by message type. A generic message has the role that its author wrote. */
const roles = new Map<string, "user" | "assistant" | "system" | "developer" | "tool">([
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

const replyOf = (said: StoredData) => {
  const thought = said.additional_kwargs?.[thoughts];
  const reasoning =
    typeof thought === "string"
      ? [{ type: "reasoning" as const, text: thought, provider: { fields: [thoughts] } }]
      : [];
  return replyDraft([...reasoning, ...partsOf(said.content)], callsOf(said), fieldsOf(said, [thoughts]));
};

/**
 * Reads the calls of a message. Valid and invalid calls are in separate lists. If our own export also wrote the calls
 * exactly, these are used, with their order and texts.
 */
const callsOf = (said: StoredData): readonly ToolCallDraft[] => {
  const calls = [
    ...(said.tool_calls ?? []).map((call) => draftOf(call, JSON.stringify(call.args ?? {}))),
    ...(said.invalid_tool_calls ?? []).map((call) => draftOf(call, call.args ?? "")),
  ];
  const exact = exactCalls.safeParse(ownOf(said)["calls"]).data ?? [];
  const same = exact.length === calls.length && exact.every(({ id }) => calls.some((call) => call.id === id));
  return same ? exact : calls;
};

const draftOf = (
  { id, name }: { readonly id?: string | null | undefined; readonly name?: string | null | undefined },
  given: string,
): ToolCallDraft => ({ id: id ?? null, name: name ?? "", arguments: given });

/** Returns our own fields. */
const ownOf = ({ additional_kwargs: kwargs }: StoredData): JsonObject => {
  const own = kwargs?.[ourName];
  return isJsonObject(own) ? own : {};
};

const readResult = (said: StoredData, index: number, { add, loseAt }: Notebook): void => {
  const { tool_call_id: toolCallId = null, status } = said;
  const { outcome } = ownOf(said);
  const fields = {
    ...fieldsFor(fieldsOf(said).provider, "langchain"),
    ...(typeof outcome !== "string" && status === "error" ? { status } : {}),
  };
  if (typeof outcome === "string") loseAt(index)("status", `the outcome "${outcome}"`, "its content stands for it");
  const marked = isEmpty(fields) ? [] : [foreignPart("langchain", { type: fieldsType, fields })];
  const content = [...contentPartsOf(said.content), ...marked];
  add(index, { role: "tool", toolCallId, content: plainText(content) ?? content });
};

/** Returns the fields of a message beside its content: its name, and everything that LangChain may want back. */
const fieldsOf = (said: StoredData, read: readonly string[] = []): MessageFields => {
  const { metadata, provider } = ownOf(said);
  const langchain = saying(said, readFields);
  const kwargs = saying(said.additional_kwargs ?? {}, [ourName, roleMark, ...read]);
  return {
    ...(said.name ? { name: said.name } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
    ...providerOf({
      ...(isJsonObject(provider) ? provider : {}),
      langchain: { ...langchain, ...(isEmpty(kwargs) ? {} : { additional_kwargs: kwargs }) },
    }),
  };
};

const readFields: readonly string[] = [
  "additional_kwargs",
  "content",
  "name",
  "role",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_id",
  "status",
];

/** Returns the non-empty members that are not read elsewhere. Unknown members are JSON too. */
const saying = (members: { readonly [field: string]: unknown }, read: readonly string[]): JsonObject =>
  Object.fromEntries<Json>(
    Object.entries(members).filter(
      (member): member is [string, Json] => !read.includes(member[0]) && !saysNothing(member[1]),
    ),
  );
