import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  accepted,
  type Answer,
  badRequest,
  isObject,
  missing,
  missingIndex,
  parseFailure,
  refusal,
  textOf,
  textsOf,
  written,
} from "./answer.ts";
import { type Mapping, type StoredDocument, updateResponse } from "./documents.ts";
import { base, changesOf, type Indices, problemOfAccess, timeOf, unlessBlank } from "./memories.ts";
import { type Page, pagedAnswer, pageOf, pageParameters } from "./page.ts";
import type { Route } from "./routes.ts";
import { refusalOfMissing, type Search, searchAnswer, searchOf } from "./search.ts";

export const messageMapping: Mapping = {
  memory_id: "keyword",
  create_time: "date",
  input: "text",
  prompt_template: "text",
  response: "text",
  origin: "keyword",
  additional_info: "flat_object",
  parent_message_id: "keyword",
  trace_number: "long",
};

/** Returns the endpoints of 2.12 and later for the messages of a memory, and their traces. */
export const messageRoutes = (at: Indices, now: () => string): readonly Route[] => [
  { methods: ["GET"], path: `${base}/message/{message_id}/traces`, query: pageParameters, prepare: listTraces(at) },
  { methods: ["GET"], path: `${base}/message/{message_id}`, prepare: getMessage(at) },
  { methods: ["PUT"], path: `${base}/message/{message_id}`, prepare: updateMessage(at) },
  { methods: ["POST"], path: `${base}/{memory_id}/messages`, prepare: createMessage(at, now) },
  { methods: ["GET"], path: `${base}/{memory_id}/messages`, query: pageParameters, prepare: listMessages(at) },
  { methods: ["POST", "GET"], path: `${base}/{memory_id}/_search`, prepare: searchMessages(at) },
];

type Prepare = Route["prepare"];

/**
 * Creates a message. It becomes a trace only if it has both a parent and a number. The memory's update time changes
 * too.
 */
const createMessage =
  ({ memories, messages }: Indices, now: () => string): Prepare =>
  ({ parameters: { memory_id: id = "" }, body, user }) =>
    Either.map(({ fields, trace }: MessageDraft) => () => {
      messages.create();
      const problem = problemOfAccess(memories, id, user);
      if (problem !== null) return problem;
      const messageId = messages.add({ memory_id: id, create_time: now(), ...trace, ...fields });
      memories.update(id, { updated_time: now() });
      return accepted({ message_id: messageId });
    })(draftOf(body));

interface MessageDraft {
  readonly fields: JsonObject;
  readonly trace: { readonly parent_message_id: string | null; readonly trace_number: number | null };
}

const textFields = ["input", "prompt_template", "response", "origin"] as const;

/**
 * Reads a message. The service silently drops an `additional_info` that is a text, and converts an object's values to
 * texts.
 */
const draftOf = (body: Json | undefined): Either.Either<Answer, MessageDraft> => {
  if (body === undefined) return Either.left(parseFailure("request body is required"));
  if (!isObject(body))
    return Either.left(
      refusal(400, "parsing_exception", "Failed to parse object: expecting token of type [START_OBJECT]"),
    );
  let fields: JsonObject = {};
  for (const name of textFields) {
    const given = body[name];
    const text = given === undefined ? Either.right("") : textOf(given);
    if (Either.isLeft(text)) return text;
    fields = { ...fields, ...unlessBlank(name, text.right) };
  }
  const given = body["additional_info"];
  const info = textsOf(isObject(given) ? given : {});
  if (Either.isLeft(info)) return info;
  if (Object.keys(info.right).length > 0) fields = { ...fields, additional_info: info.right };
  if (Object.keys(fields).length === 0) return Either.left(badRequest(allEmpty));
  const trace = traceOf(body["parent_message_id"], body["trace_number"]);
  return Either.isLeft(trace) ? trace : Either.right({ fields, trace: trace.right });
};

const traceOf = (parent: Json | undefined, given: Json | undefined): Either.Either<Answer, MessageDraft["trace"]> => {
  const number = given === undefined ? null : Number(given);
  if (number !== null && !Number.isInteger(number))
    return Either.left(badRequest(`For input string: "${written(given)}"`));
  const id = parent === undefined ? Either.right(null) : textOf(parent);
  return Either.map((parentId: string | null) =>
    parentId === null || number === null
      ? { parent_message_id: null, trace_number: null }
      : { parent_message_id: parentId, trace_number: number },
  )(id);
};

const allEmpty =
  "At least one of the following parameters must be non-empty: input, prompt_template, response, origin, additional_info";

const listMessages =
  ({ memories, messages }: Indices): Prepare =>
  ({ parameters: { memory_id: id = "" }, query, user }) =>
    Either.map((page: Page) => () => {
      if (!messages.exists()) return accepted({ messages: [] });
      const problem = problemOfAccess(memories, id, user);
      if (problem !== null) return problem;
      const own = messages.all().filter(({ source }) => source["memory_id"] === id && source["trace_number"] === null);
      return pagedAnswer(messages, "messages", own.toSorted(oldestFirst).map(shownMessage), page);
    })(pageOf(query, wordsFor("interactions")));

const listTraces =
  ({ memories, messages }: Indices): Prepare =>
  ({ parameters: { message_id: id = "" }, query, user }) =>
    Either.map((page: Page) => () => {
      if (!messages.exists()) return accepted({ traces: [] });
      const problem = problemOfMessage({ memories, messages }, id, user);
      if (problem !== null) return problem;
      const traces = messages.all().filter(({ source }) => source["parent_message_id"] === id);
      const numberOf = ({ source }: StoredDocument): number => Number(source["trace_number"]);
      const ordered = traces.toSorted((left, right) => numberOf(left) - numberOf(right));
      return pagedAnswer(messages, "traces", ordered.map(shownMessage), page);
    })(pageOf(query, wordsFor("traces")));

const searchMessages =
  ({ memories, messages }: Indices): Prepare =>
  ({ parameters: { memory_id: id = "" }, body, user }) =>
    Either.map((search: Search) => () => {
      const problem = problemOfAccess(memories, id, user);
      if (problem !== null) return problem;
      if (!messages.exists()) return refusalOfMissing(messages);
      return searchAnswer(messages, search, ({ source }) => source["memory_id"] === id);
    })(searchOf(body, messages));

const getMessage =
  (at: Indices): Prepare =>
  ({ parameters: { message_id: id = "" }, user }) =>
    Either.right(() => {
      if (!at.messages.exists()) {
        return missingIndex(at.messages.name, "cannot get message since the messages index does not exist");
      }
      const problem = problemOfMessage(at, id, user);
      const message = at.messages.get(id);
      return problem !== null || message === undefined
        ? (problem ?? missing(`Message [${id}]`))
        : accepted(shownMessage(message));
    });

/** Only the response and the additional information can change. */
const updateMessage =
  (at: Indices): Prepare =>
  ({ parameters: { message_id: id = "" }, body, user }) =>
    Either.map((changes: JsonObject) => () => {
      if (!at.messages.exists()) {
        return missingIndex(at.messages.name, "cannot update message since the message index does not exist");
      }
      const problem = problemOfMessage(at, id, user, "message");
      if (problem !== null) return problem;
      const updated = at.messages.update(id, changes);
      return updated === undefined ? missing(`message [${id}]`) : accepted(updateResponse(at.messages, updated));
    })(changesOf(body, "interaction", ["response", "additional_info"]));

/**
 * Returns the refusal if a user may not access a message, or null. A trace of a deleted memory is not accessible
 * either.
 */
const problemOfMessage = (
  { memories, messages }: Indices,
  id: string,
  user: string | null,
  word: "Message" | "message" = "Message",
): Answer | null => {
  const message = messages.get(id);
  if (message === undefined) return missing(`${word} [${id}]`);
  return problemOfAccess(memories, written(message.source["memory_id"]), user, `message ${id}`);
};

const wordsFor = (things: string): { readonly notPositive: string; readonly negative: string } => ({
  notPositive: `The number of ${things} to retrieve must be positive`,
  negative: "The starting position must be nonnegative",
});

/** Returns a message as the service shows it, without null and blank fields. */
const shownMessage = ({ id, source }: StoredDocument): JsonObject => {
  const { memory_id = null, create_time = null, ...others } = source;
  const said = Object.entries(others).filter(
    ([, value]) => value !== null && !(typeof value === "string" && value.trim() === ""),
  );
  return { memory_id, message_id: id, create_time, ...Object.fromEntries(said) };
};

const oldestFirst = (left: StoredDocument, right: StoredDocument): number =>
  timeOf(left, "create_time") - timeOf(right, "create_time");
