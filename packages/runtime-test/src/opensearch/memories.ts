import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { accepted, type Answer, isObject, missing, missingIndex, parseFailure, refusal, written } from "./answer.ts";
import { type DocumentIndex, type Mapping, type StoredDocument, updateResponse } from "./documents.ts";
import { pagedAnswer, pageOf, pageParameters } from "./page.ts";
import { refusalOfMissing, searchAnswer, searchOf } from "./search.ts";
import type { Call, Route } from "./routes.ts";

export const memoryMapping: Mapping = {
  name: "text",
  create_time: "date",
  updated_time: "date",
  user: "keyword",
  application_type: "keyword",
  additional_info: "flat_object",
};

/** The two indices of 2.12 and later. */
export interface Indices {
  readonly memories: DocumentIndex;
  readonly messages: DocumentIndex;
}

export const base = "/_plugins/_ml/memory";

/** Returns the endpoints of 2.12 and later for the memories. */
export const memoryRoutes = ({ memories, messages }: Indices, now: () => string): readonly Route[] => [
  { methods: ["POST"], path: base, prepare: createMemory(memories, now) },
  { methods: ["GET"], path: base, query: pageParameters, prepare: listMemories(memories) },
  { methods: ["POST", "GET"], path: `${base}/_search`, prepare: searchMemories(memories) },
  { methods: ["GET"], path: `${base}/{memory_id}`, prepare: getMemory(memories) },
  { methods: ["PUT"], path: `${base}/{memory_id}`, prepare: updateMemory(memories, now) },
  { methods: ["DELETE"], path: `${base}/{memory_id}`, prepare: deleteMemory(memories, messages) },
];

/**
 * Returns the refusal if a user may not access a memory, or null. If the index does not exist, access is not checked.
 */
export const problemOfAccess = (
  memories: DocumentIndex,
  id: string,
  user: string | null,
  what = `memory ${id}`,
): Answer | null => {
  if (!memories.exists()) return null;
  const memory = memories.get(id);
  if (memory === undefined) return missing(`Memory [${id}]`);
  if (user === null || memory.source["user"] === user) return null;
  return refusal(401, "status_exception", `User [${user}] does not have access to ${what}`);
};

type Prepare = Route["prepare"];

/** Without a name, the service silently drops all other fields. */
const createMemory =
  (memories: DocumentIndex, now: () => string): Prepare =>
  ({ body, user }) => {
    if (body !== undefined && !isObject(body)) return Either.left(parseFailure("Failed to parse object"));
    const given = body ?? {};
    const { name, application_type: type, additional_info: info } = given["name"] == null ? {} : given;
    if (!isTextOrNothing(name) || !isTextOrNothing(type) || (info != null && !isObject(info))) {
      return Either.left(parseFailure("name and application_type have to be texts, and additional_info an object"));
    }
    return Either.right(() => {
      const at = now();
      const id = memories.add({
        create_time: at,
        updated_time: at,
        ...unlessBlank("name", name),
        ...(user === null ? {} : { user }),
        ...unlessBlank("application_type", type),
        ...(info == null || Object.keys(info).length === 0 ? {} : { additional_info: info }),
      });
      return accepted({ memory_id: id });
    });
  };

const listMemories =
  (memories: DocumentIndex): Prepare =>
  ({ query, user }) =>
    Either.map((page: { readonly from: number; readonly size: number }) => () => {
      if (!memories.exists()) return accepted({ memories: [] });
      const own = memories.all().filter(isOwn(user));
      return pagedAnswer(memories, "memories", own.toSorted(newestFirst).map(shownMemory), page);
    })(pageOf(query, { notPositive: "Can't list 0 or negative conversations", negative: null }));

const searchMemories =
  (memories: DocumentIndex): Prepare =>
  ({ body, user }) =>
    Either.map(
      (search: Parameters<typeof searchAnswer>[1]) => () =>
        memories.exists() ? searchAnswer(memories, search, isOwn(user)) : refusalOfMissing(memories),
    )(searchOf(body, memories));

const getMemory =
  (memories: DocumentIndex): Prepare =>
  ({ parameters: { memory_id: id = "" }, user }) =>
    Either.right(() => {
      if (!memories.exists()) return withoutIndex(memories, "get");
      const memory = memories.get(id);
      const problem = problemOfAccess(memories, id, user);
      return problem !== null || memory === undefined
        ? (problem ?? missing(`Memory [${id}]`))
        : accepted(shownMemory(memory));
    });

const updateMemory =
  (memories: DocumentIndex, now: () => string): Prepare =>
  ({ parameters: { memory_id: id = "" }, body, user }) => {
    const changes = changesOf(body, "conversation", ["name", "additional_info"]);
    return Either.map((kept: JsonObject) => () => {
      if (!memories.exists()) return withoutIndex(memories, "update");
      const problem = problemOfAccess(memories, id, user);
      if (problem !== null) return problem;
      const updated = memories.update(id, { updated_time: now(), ...kept });
      return updated === undefined ? missing(`Memory [${id}]`) : accepted(updateResponse(memories, updated));
    })(changes);
  };

/** Deletes the memory and its messages; their traces stay. */
const deleteMemory =
  (memories: DocumentIndex, messages: DocumentIndex): Prepare =>
  ({ parameters: { memory_id: id = "" }, user }) =>
    Either.right(() => {
      const problem = problemOfAccess(memories, id, user);
      if (problem?.status === 401) {
        return refusal(404, "status_exception", `Resources not found. Failed to delete the memory for ${id}`);
      }
      if (problem !== null) return problem;
      for (const { id: messageId, source } of messages.all()) {
        if (source["memory_id"] === id && source["trace_number"] === null) messages.remove(messageId);
      }
      memories.remove(id);
      return accepted({ success: true });
    });

/** Returns the fields that an update may change; the service fails if one of them is null. */
export const changesOf = (
  body: Call["body"],
  what: "conversation" | "interaction",
  fields: readonly string[],
): Either.Either<Answer, JsonObject> => {
  if (body === undefined) return Either.left(parseFailure(`Failed to update ${what}: Request body is empty`));
  if (!isObject(body))
    return Either.left(
      refusal(400, "parsing_exception", "Failed to parse object: expecting token of type [START_OBJECT]"),
    );
  const kept = Object.entries(body).filter(([name]) => fields.includes(name));
  if (kept.some(([, value]) => value === null)) return Either.left(refusal(500, "null_pointer_exception", "null"));
  return Either.right(Object.fromEntries(kept));
};

export const unlessBlank = (name: string, text: string | null | undefined): JsonObject =>
  text == null || text.trim() === "" ? {} : { [name]: text };

/**
 * Returns a memory as the service shows it. A missing name is shown as null; the application type is searchable but not
 * shown.
 */
const shownMemory = ({ id, source }: StoredDocument): JsonObject => {
  const { application_type: _, create_time = null, updated_time = null, name = null, ...others } = source;
  return { memory_id: id, create_time, updated_time, name, ...others };
};

const isOwn =
  (user: string | null) =>
  ({ source }: StoredDocument): boolean =>
    user === null || source["user"] === user;

const newestFirst = (left: StoredDocument, right: StoredDocument): number =>
  timeOf(right, "updated_time") - timeOf(left, "updated_time");

export const timeOf = ({ source }: StoredDocument, field: "create_time" | "updated_time"): number =>
  Date.parse(written(source[field]));

const withoutIndex = ({ name }: DocumentIndex, verb: string): Answer =>
  missingIndex(name, `cannot ${verb} memory since the memory index does not exist`);

const isTextOrNothing = (value: unknown): value is string | null | undefined =>
  value == null || typeof value === "string";
