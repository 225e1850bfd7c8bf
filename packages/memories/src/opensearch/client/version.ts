import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { type Ask, refused } from "./ask.ts";
import type { Answer, MemoryClient } from "./memory-client.ts";

interface Ages {
  readonly legacy: MemoryClient;
  readonly current: MemoryClient;
}

/**
 * Returns the client for the service's version. The version is requested once if it is not given, and again if that
 * failed.
 */
export const atVersion = (ask: Ask, given: string | undefined, ages: Ages): MemoryClient => {
  let known: MemoryClient | null = null;
  const chosen = async (): Answer<MemoryClient> => {
    if (known !== null) return Either.right(known);
    const version = given === undefined ? await ask({ method: "GET", path: [] }, infoSchema) : Either.right(given);
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
