import { z } from "zod";
import { type Ask, refused } from "./ask.ts";
import { allOf, base as memory, bodyOf, infoOf, pageOf, problemOfDraft, saidIn, saidSchema, text } from "./fields.ts";
import { deletedSchema } from "./memories.ts";
import type { Answer, Info, Memory, MemoryClient, MemoryMessage } from "./memory-client.ts";

/** Makes a client of the API of 2.10 and 2.11. */
export const conversations = (ask: Ask): MemoryClient => {
  const base = [...memory, "conversation"];
  const messages: MemoryClient["messages"] = (id, from) =>
    pageOf(ask, [...base, id], from, "interactions", interactionSchema);
  return {
    create: async (name, info = {}) => {
      if (Object.keys(info).length > 0)
        return refused("before OpenSearch 2.12 nothing is kept beside the name of a memory");
      const schema = z.object({ conversation_id: z.string() }).transform((read) => read.conversation_id);
      return ask({ method: "POST", path: base, body: { name } }, schema);
    },
    memory: notYet("gives no memory by its id"),
    memories: (from) => pageOf(ask, base, from, "conversations", conversationSchema),
    update: notYet("changes no memory"),
    remove: (id) => ask({ method: "DELETE", path: [...base, id] }, deletedSchema),
    searchMemories: notYet("searches no memories"),
    add: async (id, draft) => {
      if (draft.trace !== undefined) return refused("before OpenSearch 2.12 messages have no traces");
      const problem = problemOfDraft(draft);
      if (problem !== null) return problem;
      const info = draft.info === undefined ? undefined : JSON.stringify(draft.info);
      const schema = z.object({ interaction_id: z.string() }).transform((read) => read.interaction_id);
      return ask({ method: "POST", path: [...base, id], body: { ...bodyOf(draft), additional_info: info } }, schema);
    },
    message: notYet("gives no message by its id"),
    messages,
    conversation: (id) => allOf((from) => messages(id, from)),
    updateMessage: notYet("changes no message"),
    traces: notYet("has no traces"),
    searchMessages: notYet("searches no messages"),
  };
};

const notYet =
  (what: string): (() => Answer<never>) =>
  async () =>
    refused(`OpenSearch before 2.12 ${what}`);

const conversationSchema: z.ZodType<Memory> = z
  .object({ conversation_id: z.string(), name: text, create_time: z.string(), user: text })
  .transform((read) => ({
    id: read.conversation_id,
    name: read.name ?? null,
    createdAt: read.create_time,
    updatedAt: null,
    user: read.user ?? null,
    info: {},
  }));

const interactionSchema: z.ZodType<MemoryMessage> = saidSchema
  .extend({
    conversation_id: z.string(),
    interaction_id: z.string(),
    create_time: z.string(),
    additional_info: z.string().nullish(),
  })
  .transform((read) => ({
    ...saidIn(read),
    id: read.interaction_id,
    memoryId: read.conversation_id,
    createdAt: read.create_time,
    info: infoOfText(read.additional_info ?? ""),
  }));

const infoOfText = (written: string): Info => {
  if (written === "") return {};
  try {
    const read = z.record(z.string(), z.unknown()).safeParse(JSON.parse(written));
    return read.success ? infoOf(read.data) : { text: written };
  } catch {
    return { text: written };
  }
};
