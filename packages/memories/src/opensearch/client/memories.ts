import { z } from "zod";
import {
  type Send,
  refused,
  allOf,
  base,
  bodyOf,
  infoObject,
  pageOf,
  problemOfDraft,
  draftOf,
  messageFields,
  text,
} from "./send.ts";
import type { Found, Memory, MemoryClient, MemoryMessage, MessageDraft } from "./memory-client.ts";

/** Makes a client of the API of 2.12 and later. */
export const memories = (send: Send): MemoryClient => {
  const messages: MemoryClient["messages"] = (memoryId, from) =>
    pageOf(send, [...base, memoryId, "messages"], from, "messages", messageSchema);
  return {
    create: async (name, info) => {
      if (name.trim() === "") return refused("a memory without a name would lose all else: give it a name");
      const body = { name, additional_info: info };
      return send(
        { method: "POST", path: base, body },
        z.object({ memory_id: z.string() }).transform(({ memory_id }) => memory_id),
      );
    },
    memory: (id) => send({ method: "GET", path: [...base, id] }, memorySchema),
    memories: (from) => pageOf(send, base, from, "memories", memorySchema),
    update: (id, { name, info }) =>
      send({ method: "PUT", path: [...base, id], body: { name, additional_info: info } }, updatedSchema),
    remove: (id) => send({ method: "DELETE", path: [...base, id] }, deletedSchema),
    searchMemories: (body) =>
      send({ method: "POST", path: [...base, "_search"], body }, foundSchema("memory_id", memorySchema)),
    add: async (id, draft) =>
      problemOfDraft(draft) ??
      send(
        {
          method: "POST",
          path: [...base, id, "messages"],
          body: { ...bodyOf(draft), additional_info: draft.info, ...traceOf(draft) },
        },
        z.object({ message_id: z.string() }).transform(({ message_id }) => message_id),
      ),
    message: (id) => send({ method: "GET", path: [...base, "message", id] }, messageSchema),
    messages,
    conversation: (id) => allOf((from) => messages(id, from)),
    updateMessage: (id, { response, info }) =>
      send({ method: "PUT", path: [...base, "message", id], body: { response, additional_info: info } }, updatedSchema),
    traces: (id, from) => pageOf(send, [...base, "message", id, "traces"], from, "traces", messageSchema),
    searchMessages: (id, body) =>
      send({ method: "POST", path: [...base, id, "_search"], body }, foundSchema("message_id", messageSchema)),
  };
};

export const deletedSchema: z.ZodType<boolean> = z.object({ success: z.boolean() }).transform(({ success }) => success);

const updatedSchema: z.ZodType<true> = z.object({ result: z.enum(["updated", "noop"]) }).transform(() => true as const);

const memorySchema: z.ZodType<Memory> = z
  .object({
    memory_id: z.string(),
    name: text,
    create_time: z.string(),
    updated_time: z.string(),
    user: text,
    additional_info: infoObject,
  })
  .transform((read) => ({
    id: read.memory_id,
    name: read.name ?? null,
    createdAt: read.create_time,
    updatedAt: read.updated_time,
    user: read.user ?? null,
    info: read.additional_info,
  }));

const messageSchema: z.ZodType<MemoryMessage> = messageFields
  .extend({
    memory_id: z.string(),
    message_id: z.string(),
    create_time: z.string(),
    additional_info: infoObject,
    parent_message_id: text,
    trace_number: z.int().nullish(),
  })
  .transform(({ parent_message_id: parent, trace_number: number, ...read }) => ({
    ...draftOf(read),
    id: read.message_id,
    memoryId: read.memory_id,
    createdAt: read.create_time,
    info: read.additional_info,
    ...(parent === undefined || number == null ? {} : { trace: { of: parent, number } }),
  }));

const traceOf = ({ trace }: MessageDraft): object =>
  trace === undefined ? {} : { parent_message_id: trace.of, trace_number: trace.number };

/** Makes the schema of a search response, whose documents have their id beside them. */
const foundSchema = <Item>(id: string, item: z.ZodType<Item>): z.ZodType<Found<Item>> =>
  z
    .object({
      hits: z.object({
        total: z.object({ value: z.int() }),
        hits: z.array(
          z
            .object({ _id: z.string(), _source: z.record(z.string(), z.unknown()) })
            .transform(({ _id, _source }): unknown => ({ ..._source, [id]: _id }))
            .pipe(item),
        ),
      }),
    })
    .transform(({ hits }) => ({ total: hits.total.value, items: hits.hits }));
