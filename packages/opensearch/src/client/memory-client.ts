import type * as Either from "fp-ts/lib/Either.js";

/** What was refused or failed. It has no header of the request, so no secret of the client's. */
export interface MemoryProblem {
  /** The HTTP status; null where no answer came, or none was asked for. */
  readonly status: number | null;
  readonly reason: string;
}

/** What the service answered. It is never rejected for what the service or the network does. */
export type Answer<Value> = Promise<Either.Either<MemoryProblem, Value>>;

/** A page, and where the next one begins; null behind the last. A last page may be empty. */
export interface MemoryPage<Item> {
  readonly items: readonly Item[];
  readonly next: number | null;
}

/** A memory, or a conversation of before 2.12. */
export interface Memory {
  readonly id: string;
  readonly name: string | null;
  /** As the service writes it; so are all times. */
  readonly createdAt: string;
  /** Null before 2.12. */
  readonly updatedAt: string | null;
  /** Null where the service runs without its security plugin. */
  readonly user: string | null;
  readonly info: Info;
}

/** Texts by name, of which `additional_info` consists. What others wrote there and is no text is its JSON here. */
export type Info = { readonly [name: string]: string };

/** What is written as a message: at least one of its texts. */
export interface MessageDraft {
  readonly input?: string;
  readonly promptTemplate?: string;
  readonly response?: string;
  readonly origin?: string;
  /** Default: none. Before 2.12 the service keeps one text: these as JSON. */
  readonly info?: Info;
  /** Makes it a trace of a message, from 2.12 on. */
  readonly trace?: { readonly of: string; readonly number: number };
}

/** A message of a memory, or an interaction of a conversation. Texts that are null or blank are absent. */
export interface MemoryMessage extends MessageDraft {
  readonly id: string;
  readonly memoryId: string;
  readonly createdAt: string;
  /** Of an interaction whose text is not a JSON object, that text as `text`. */
  readonly info: Info;
}

/** What a search found, in its order, with the number of all that match. */
export interface Found<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/**
 * The memory API of either age. Before 2.12 memories are conversations and messages interactions, and what that
 * API does not have is refused with status null and a reason that says so. Lists begin at an offset, which `next`
 * of a page gives; others who write meanwhile shift them.
 */
export interface MemoryClient {
  /** Gives the id. A name is needed: without one the service drops all else in silence. */
  create(name: string, info?: Info): Answer<string>;
  memory(memoryId: string): Answer<Memory>;
  /** Those of the user, the one that was last written to first; before 2.12 the newest. */
  memories(from: number): Answer<MemoryPage<Memory>>;
  /** Info is merged into what is there. */
  update(memoryId: string, changes: { readonly name?: string; readonly info?: Info }): Answer<true>;
  /** With its messages. The service leaves their traces, which nobody can read then. */
  remove(memoryId: string): Answer<boolean>;
  /** By a body of the query DSL. */
  searchMemories(body: object): Answer<Found<Memory>>;
  /** Gives the id. */
  add(memoryId: string, draft: MessageDraft): Answer<string>;
  message(messageId: string): Answer<MemoryMessage>;
  /** In the order of the service: oldest first, before 2.12 newest first. Without traces. */
  messages(memoryId: string, from: number): Answer<MemoryPage<MemoryMessage>>;
  /** All of a memory, oldest first at any version. */
  conversation(memoryId: string): Answer<readonly MemoryMessage[]>;
  /** Only these two can change; info is merged into what is there. */
  updateMessage(messageId: string, changes: Pick<MessageDraft, "response" | "info">): Answer<true>;
  /** By their numbers. */
  traces(messageId: string, from: number): Answer<MemoryPage<MemoryMessage>>;
  /** By a body of the query DSL. Traces are found as well. */
  searchMessages(memoryId: string, body: object): Answer<Found<MemoryMessage>>;
}
