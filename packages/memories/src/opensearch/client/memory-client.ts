import type * as Either from "fp-ts/lib/Either.js";

/** A refused or failed request, without secrets of the client. */
export interface MemoryProblem {
  /** The HTTP status; null if no request was sent, or no response arrived. */
  readonly status: number | null;
  readonly reason: string;
}

/** The service's answer, or the problem. The promise never rejects because of the service or the network. */
export type Answer<Value> = Promise<Either.Either<MemoryProblem, Value>>;

/** A page, and the offset of the next one; null after the last. The last page may be empty. */
export interface MemoryPage<Item> {
  readonly items: readonly Item[];
  readonly next: number | null;
}

/** A memory; before 2.12, a conversation. */
export interface Memory {
  readonly id: string;
  readonly name: string | null;
  /** In the service's format, like all times. */
  readonly createdAt: string;
  /** Null before 2.12. */
  readonly updatedAt: string | null;
  /** Null if the service runs without its security plugin. */
  readonly user: string | null;
  readonly info: Info;
}

/** The texts of `additional_info`, by name. A value of another type, written by another client, is its JSON text. */
export type Info = { readonly [name: string]: string };

/** The content of a new message. At least one of its texts, or a value of `info`, must not be blank. */
export interface MessageDraft {
  readonly input?: string;
  readonly promptTemplate?: string;
  readonly response?: string;
  readonly origin?: string;
  /** Default: none. Before 2.12, the service stores this object as one JSON text. */
  readonly info?: Info;
  /** Makes the message a trace of another one, from 2.12 on. */
  readonly trace?: { readonly of: string; readonly number: number };
}

/** A message of a memory; before 2.12, an interaction of a conversation. Texts that are null or blank are absent. */
export interface MemoryMessage extends MessageDraft {
  readonly id: string;
  readonly memoryId: string;
  readonly createdAt: string;
  /** Before 2.12, an `additional_info` that is not a JSON object is the member `text`. */
  readonly info: Info;
}

/** The results of a search, in the order of the service, with the number of all matches. */
export interface Found<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/**
 * The memory API of OpenSearch, before 2.12 and since. Before 2.12, memories are conversations, messages are
 * interactions, and a method or option that the service lacks results in a problem with status null. Lists begin at an
 * offset: 0, or the `next` of a page; concurrent writes shift the offsets.
 */
export interface MemoryClient {
  /**
   * Creates a memory, and returns its id. A name is required: without one, the service silently drops everything else.
   */
  create(name: string, info?: Info): Answer<string>;
  memory(memoryId: string): Answer<Memory>;
  /** Lists the user's memories, the most recently written first; before 2.12, the newest first. */
  memories(from: number): Answer<MemoryPage<Memory>>;
  /** Changes a memory; `info` is merged into the present one. */
  update(memoryId: string, changes: { readonly name?: string; readonly info?: Info }): Answer<true>;
  /** Removes a memory with its messages. The service keeps their traces, which are then unreadable. */
  remove(memoryId: string): Answer<boolean>;
  /** Searches memories with a body of the query DSL. */
  searchMemories(body: object): Answer<Found<Memory>>;
  /** Adds a message, and returns its id. */
  add(memoryId: string, draft: MessageDraft): Answer<string>;
  message(messageId: string): Answer<MemoryMessage>;
  /** Lists messages without traces, in the service's order: oldest first; before 2.12, newest first. */
  messages(memoryId: string, from: number): Answer<MemoryPage<MemoryMessage>>;
  /** Returns all messages of a memory, oldest first in every version. */
  conversation(memoryId: string): Answer<readonly MemoryMessage[]>;
  /** Changes a message. Only these two members can change; `info` is merged into the present one. */
  updateMessage(messageId: string, changes: Pick<MessageDraft, "response" | "info">): Answer<true>;
  /** Lists the traces of a message, by number. */
  traces(messageId: string, from: number): Answer<MemoryPage<MemoryMessage>>;
  /** Searches messages with a body of the query DSL. Traces are found as well. */
  searchMessages(memoryId: string, body: object): Answer<Found<MemoryMessage>>;
}
