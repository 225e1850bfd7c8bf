import type { Json, JsonObject } from "@colloquy/machine";
import {
  accepted,
  type Answer,
  badRequest,
  isObject,
  missing,
  missingIndex,
  noBody,
  problemOfTexts,
  refusal,
  unparsable,
  written,
} from "./answer.ts";
import { DocumentIndex, isOwn, newestFirst, oldestFirst, type StoredDocument } from "./documents.ts";
import { type Call, countsOf, pagedAnswer, route, type Route } from "./routes.ts";
import { problemOfSearch, searchAnswer } from "./search.ts";

/** Returns the endpoints of 2.12 and later: memories, their messages, and the traces of these. */
export const memoryRoutes = (now: () => string): readonly Route[] => {
  const memories = new DocumentIndex(".plugins-ml-memory-meta", "memory", {
    name: "text",
    create_time: "date",
    updated_time: "date",
    user: "keyword",
    application_type: "keyword",
    additional_info: "flat_object",
  });
  const messages = new DocumentIndex(".plugins-ml-memory-message", "message", {
    memory_id: "keyword",
    create_time: "date",
    input: "text",
    prompt_template: "text",
    response: "text",
    origin: "keyword",
    additional_info: "flat_object",
    parent_message_id: "keyword",
    trace_number: "long",
  });
  const at = { memories, messages };
  return [...routesOfMessage(at), ...routesOfMessages(at, now), ...routesOfMemories(at, now)];
};

interface Indices {
  readonly memories: DocumentIndex;
  readonly messages: DocumentIndex;
}

const routesOfMemories = ({ memories, messages }: Indices, now: () => string): readonly Route[] => {
  /** Performs a request for a memory, if its index exists and the user may read it. */
  const onMemory =
    (verb: string, perform: (memory: StoredDocument, call: Call) => Answer): Route["perform"] =>
    (call) => {
      const memory = memories.get(call.id);
      if (!memories.exists)
        return missingIndex(memories.name, `cannot ${verb} memory since the memory index does not exist`);
      return memory === undefined ? missing(`Memory [${call.id}]`) : (denied(memory, call) ?? perform(memory, call));
    };
  const list: Route["perform"] = ({ query, user }) => {
    const own = memories.all().filter(isOwn(user)).toSorted(newestFirst("updated_time"));
    return pagedAnswer(memories, "memories", own.map(shownMemory), query);
  };
  const get = onMemory("get", (memory) => accepted(shownMemory(memory)));
  const update = onMemory("update", (memory, call) =>
    accepted(memories.update(memory, { updated_time: now(), ...picked(call.body, memoryChanges) })),
  );
  const remove: Route["perform"] = ({ id, user }) => {
    const memory = memories.get(id);
    if (memory === undefined && memories.exists) return missing(`Memory [${id}]`);
    if (memory !== undefined && !isOwn(user)(memory))
      return refusal(404, "status_exception", `Resources not found. Failed to delete the memory for ${id}`);
    // Traces stay.
    messages.remove(({ source }) => source["memory_id"] === id && source["trace_number"] === null);
    memories.remove((each) => each === memory);
    return accepted({ success: true });
  };
  return [
    route("POST", "", (call) => createdMemory(memories, call, now()), { refuses: problemOfNewMemory }),
    route("GET", "", list, { lists: { notPositive: "Can't list 0 or negative conversations", negative: null } }),
    route("POST GET", "/_search", ({ body, user }) => searchAnswer(memories, body, isOwn(user)), {
      refuses: problemOfSearch,
    }),
    route("GET", "/{id}", get),
    route("PUT", "/{id}", update, { refuses: problemOfChanges("conversation", memoryChanges) }),
    route("DELETE", "/{id}", remove),
  ];
};

const memoryChanges = ["name", "additional_info"];

const routesOfMessage = (at: Indices): readonly Route[] => {
  const { memories, messages } = at;
  /** Performs a request for a message. A trace of a deleted memory cannot be read either. */
  const onMessage =
    (word: "Message" | "message", perform: (message: StoredDocument, call: Call) => Answer): Route["perform"] =>
    (call) => {
      const message = messages.get(call.id);
      if (message === undefined) return missing(`${word} [${call.id}]`);
      const memoryId = written(message.source["memory_id"]);
      const memory = memories.get(memoryId);
      if (memory === undefined) return missing(`Memory [${memoryId}]`);
      return denied(memory, call, `message ${call.id}`) ?? perform(message, call);
    };
  const cannot = (why: string): Answer => missingIndex(messages.name, `cannot ${why} index does not exist`);
  const numberOf = ({ source }: StoredDocument): number => Number(source["trace_number"]);
  const tracesOf = onMessage("Message", ({ id }, { query }) => {
    const traces = messages.all().filter(({ source }) => source["parent_message_id"] === id);
    const ordered = traces.toSorted((left, right) => numberOf(left) - numberOf(right));
    return pagedAnswer(messages, "traces", ordered.map(shownMessage), query);
  });
  const get = onMessage("Message", (message) => accepted(shownMessage(message)));
  const update = onMessage("message", (message, { body }) =>
    accepted(messages.update(message, picked(body, messageChanges))),
  );
  const path = "/message/{id}";
  return [
    route("GET", `${path}/traces`, unlessNew(messages, accepted({ traces: [] }), tracesOf), {
      lists: countsOf("traces"),
    }),
    route("GET", path, unlessNew(messages, cannot("get message since the messages"), get)),
    route("PUT", path, unlessNew(messages, cannot("update message since the message"), update), {
      refuses: problemOfChanges("interaction", messageChanges),
    }),
  ];
};

const routesOfMessages = ({ memories, messages }: Indices, now: () => string): readonly Route[] => {
  /** If no memory was ever written, access is not checked. */
  const inMemory =
    (perform: (call: Call) => Answer): Route["perform"] =>
    (call) => {
      const memory = memories.get(call.id);
      if (memory === undefined) return memories.exists ? missing(`Memory [${call.id}]`) : perform(call);
      return denied(memory, call) ?? perform(call);
    };
  const add = inMemory(({ id, body }) => {
    const messageId = messages.add({ memory_id: id, create_time: now(), ...traceOf(body), ...fieldsOf(body) });
    const memory = memories.get(id);
    if (memory !== undefined) memories.update(memory, { updated_time: now() });
    return accepted({ message_id: messageId });
  });
  const post: Route["perform"] = (call) => {
    messages.exists = true;
    return add(call);
  };
  const list = inMemory(({ id, query }) => {
    const own = messages.all().filter(({ source }) => source["memory_id"] === id);
    const said = own.filter(({ source }) => source["trace_number"] === null);
    return pagedAnswer(messages, "messages", said.toSorted(oldestFirst("create_time")).map(shownMessage), query);
  });
  const search = inMemory(({ id, body }) => searchAnswer(messages, body, ({ source }) => source["memory_id"] === id));
  return [
    route("POST", "/{id}/messages", post, { refuses: problemOfMessage }),
    route("GET", "/{id}/messages", unlessNew(messages, accepted({ messages: [] }), list), {
      lists: countsOf("interactions"),
    }),
    route("POST GET", "/{id}/_search", search, { refuses: problemOfSearch }),
  ];
};

/** Performs a request once something was written to an index; before that the answer is another. */
const unlessNew =
  (index: DocumentIndex, answer: Answer, perform: Route["perform"]): Route["perform"] =>
  (call) =>
    index.exists ? perform(call) : answer;

const messageChanges = ["response", "additional_info"];

const denied = (memory: StoredDocument, { user }: Call, what = `memory ${memory.id}`): Answer | null =>
  isOwn(user)(memory) ? null : refusal(401, "status_exception", `User [${user ?? ""}] does not have access to ${what}`);

const problemOfNewMemory = ({ body }: Call): Answer | null => {
  if (body === undefined) return null;
  if (!isObject(body)) return unparsable("Failed to parse object");
  const { name, application_type: type, additional_info: info } = body;
  const isRight = (typeof name === "string" || name == null) && (typeof type === "string" || type == null);
  return name == null || (isRight && (info == null || isObject(info)))
    ? null
    : unparsable("name and application_type have to be texts, and additional_info an object");
};

/** Without a name, the service silently drops all other fields. */
const createdMemory = (memories: DocumentIndex, { body, user }: Call, at: string): Answer => {
  const given = isObject(body) && body["name"] != null ? body : {};
  const { additional_info: info } = given;
  const id = memories.add({
    create_time: at,
    updated_time: at,
    ...unlessBlank(given, ["name"]),
    ...(user === null ? {} : { user }),
    ...unlessBlank(given, ["application_type"]),
    ...(isObject(info) && Object.keys(info).length > 0 ? { additional_info: info } : {}),
  });
  return accepted({ memory_id: id });
};

/** Returns the error about an update; the service fails if a changed field is null. */
const problemOfChanges =
  (what: "conversation" | "interaction", fields: readonly string[]) =>
  ({ body }: Call): Answer | null => {
    if (body === undefined) return refusal(400, "parse_exception", `Failed to update ${what}: Request body is empty`);
    if (!isObject(body)) return notAnObject;
    return Object.values(picked(body, fields)).includes(null) ? refusal(500, "null_pointer_exception", "null") : null;
  };

const notAnObject = unparsable("Failed to parse object: expecting token of type [START_OBJECT]");

const problemOfMessage = ({ body }: Call): Answer | null => {
  if (body === undefined) return noBody;
  if (!isObject(body)) return notAnObject;
  const { additional_info: info, parent_message_id: parent, trace_number: number = 0 } = body;
  const texts = [...Object.values(picked(body, textFields)), ...Object.values(isObject(info) ? info : {})];
  const problem = problemOfTexts(texts);
  if (problem !== null) return problem;
  if (Object.keys(fieldsOf(body)).length === 0) return badRequest(allEmpty);
  return Number.isInteger(Number(number))
    ? problemOfTexts([parent])
    : badRequest(`For input string: "${written(number)}"`);
};

const textFields = ["input", "prompt_template", "response", "origin"];

const allEmpty =
  "At least one of the following parameters must be non-empty: input, prompt_template, response, origin, additional_info";

/** The service silently drops an `additional_info` that is a text, and converts an object's values to texts. */
const fieldsOf = (body: Json | undefined): JsonObject => {
  const given = isObject(body) ? body : {};
  const info = Object.entries(isObject(given["additional_info"]) ? given["additional_info"] : {});
  const texts = info.map(([name, value]) => [name, written(value)] as const);
  return {
    ...unlessBlank(given, textFields),
    ...(texts.length === 0 ? {} : { additional_info: Object.fromEntries(texts) }),
  };
};

/** A message becomes a trace only if it has both a parent and a number. */
const traceOf = (body: Json | undefined): JsonObject => {
  const { parent_message_id: parent, trace_number: number } = isObject(body) ? body : {};
  return parent === undefined || number === undefined
    ? { parent_message_id: null, trace_number: null }
    : { parent_message_id: written(parent), trace_number: Number(number) };
};

const picked = (body: Json | undefined, fields: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(isObject(body) ? body : {}).filter(([name]) => fields.includes(name)));

/** Returns those of the fields that are not blank, as texts. */
const unlessBlank = (given: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(
    fields
      .map((name) => [name, given[name] == null ? "" : written(given[name])] as const)
      .filter(([, text]) => text.trim() !== ""),
  );

/** Returns a memory as the service shows it: a missing name is null, and the application type is only searchable. */
const shownMemory = ({ id, source }: StoredDocument): JsonObject => {
  const { application_type: _, create_time = null, updated_time = null, name = null, ...others } = source;
  return { memory_id: id, create_time, updated_time, name, ...others };
};

/** Returns a message as the service shows it, without null and blank fields. */
const shownMessage = ({ id, source }: StoredDocument): JsonObject => {
  const { memory_id = null, create_time = null, ...others } = source;
  const said = Object.entries(others).filter(([, value]) => written(value ?? "").trim() !== "" && value !== null);
  return { memory_id, message_id: id, create_time, ...Object.fromEntries(said) };
};
