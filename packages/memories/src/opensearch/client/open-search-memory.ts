import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import type { Client } from "@opensearch-project/opensearch";
import {
  sender,
  type Send,
  refused,
  allOf,
  base as memory,
  bodyOf,
  infoOf,
  pageOf,
  problemOfDraft,
  draftOf,
  messageFields,
  text,
} from "./send.ts";
import { memories, deletedSchema } from "./memories.ts";
import type { MemoryClient, Answer, Info, Memory, MemoryMessage } from "./memory-client.ts";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

export interface MemoryClientOptions {
  /** The version of the service, such as "2.11" or "3.0.0". Default: it is requested before the first call. */
  readonly version?: string;
}

/**
 * Makes OpenSearch's memory API from a client of `@opensearch-project/opensearch`, which has the address and the
 * credentials. Nothing is retried. Responses are checked: one that does not match the API is a problem, not a value.
 *
 * Sources: the plugin ml-commons and the OpenSearch API specification.
 *
 * @throws ConfigurationError for invalid options.
 */
export const openSearchMemory = (
  client: { readonly transport: Pick<Client["transport"], "request"> },
  options: MemoryClientOptions = {},
): MemoryClient => {
  checkOptions("openSearchMemory", options, optionKinds);
  const given: unknown = client;
  if (typeof given !== "object" || given === null || !("transport" in given))
    throw new ConfigurationError(
      'openSearchMemory needs a client, such as new Client({ node: "https://127.0.0.1:9200" }) of @opensearch-project/opensearch',
    );
  const send = sender(client);
  return atVersion(send, options.version, { legacy: conversations(send), current: memories(send) });
};

const optionKinds: OptionKinds<MemoryClientOptions> = { version: kinds.anything };

interface Ages {
  readonly legacy: MemoryClient;
  readonly current: MemoryClient;
}

/**
 * Returns the client for the service's version. The version is requested once if it is not given, and again if that
 * failed.
 */
const atVersion = (send: Send, given: string | undefined, ages: Ages): MemoryClient => {
  let known: MemoryClient | null = null;
  const chosen = async (): Answer<MemoryClient> => {
    if (known !== null) return Either.right(known);
    const version = given === undefined ? await send({ method: "GET", path: [] }, infoSchema) : Either.right(given);
    if (Either.isLeft(version)) return version;
    const [, major, minor] = /^(\d+)\.(\d+)/.exec(version.right) ?? [];
    const number = Number(major) * 1000 + Number(minor);
    if (!(number >= 2010)) return refused(`OpenSearch ${version.right} has no memory API: 2.10 and later have`);
    known = number < 2012 ? ages.legacy : ages.current;
    return Either.right(known);
  };
  const at =
    <Arguments extends readonly unknown[], Value>(
      call: (client: MemoryClient, ...values: Arguments) => Answer<Value>,
    ) =>
    async (...values: Arguments): Answer<Value> => {
      const client = await chosen();
      return Either.isLeft(client) ? client : call(client.right, ...values);
    };
  return {
    create: at((client, name: string, info?: Parameters<MemoryClient["create"]>[1]) => client.create(name, info)),
    memory: at((client, id: string) => client.memory(id)),
    memories: at((client, from: number) => client.memories(from)),
    update: at((client, ...values: Parameters<MemoryClient["update"]>) => client.update(...values)),
    remove: at((client, id: string) => client.remove(id)),
    searchMemories: at((client, body: object) => client.searchMemories(body)),
    add: at((client, ...values: Parameters<MemoryClient["add"]>) => client.add(...values)),
    message: at((client, id: string) => client.message(id)),
    messages: at((client, ...values: Parameters<MemoryClient["messages"]>) => client.messages(...values)),
    conversation: at((client, id: string) => client.conversation(id)),
    updateMessage: at((client, ...values: Parameters<MemoryClient["updateMessage"]>) =>
      client.updateMessage(...values),
    ),
    traces: at((client, ...values: Parameters<MemoryClient["traces"]>) => client.traces(...values)),
    searchMessages: at((client, ...values: Parameters<MemoryClient["searchMessages"]>) =>
      client.searchMessages(...values),
    ),
  };
};

const infoSchema = z
  .looseObject({ version: z.looseObject({ number: z.string() }) })
  .transform(({ version }) => version.number);

/** Makes a client of the API of 2.10 and 2.11. */
const conversations = (send: Send): MemoryClient => {
  const base = [...memory, "conversation"];
  const messages: MemoryClient["messages"] = (id, from) =>
    pageOf(send, [...base, id], from, "interactions", interactionSchema);
  return {
    create: async (name, info = {}) => {
      if (Object.keys(info).length > 0)
        return refused("before OpenSearch 2.12 nothing is kept beside the name of a memory");
      const schema = z.object({ conversation_id: z.string() }).transform((read) => read.conversation_id);
      return send({ method: "POST", path: base, body: { name } }, schema);
    },
    memory: notYet("gives no memory by its id"),
    memories: (from) => pageOf(send, base, from, "conversations", conversationSchema),
    update: notYet("changes no memory"),
    remove: (id) => send({ method: "DELETE", path: [...base, id] }, deletedSchema),
    searchMemories: notYet("searches no memories"),
    add: async (id, draft) => {
      if (draft.trace !== undefined) return refused("before OpenSearch 2.12 messages have no traces");
      const problem = problemOfDraft(draft);
      if (problem !== null) return problem;
      const info = draft.info === undefined ? undefined : JSON.stringify(draft.info);
      const schema = z.object({ interaction_id: z.string() }).transform((read) => read.interaction_id);
      return send({ method: "POST", path: [...base, id], body: { ...bodyOf(draft), additional_info: info } }, schema);
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

const interactionSchema: z.ZodType<MemoryMessage> = messageFields
  .extend({
    conversation_id: z.string(),
    interaction_id: z.string(),
    create_time: z.string(),
    additional_info: z.string().nullish(),
  })
  .transform((read) => ({
    ...draftOf(read),
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
