import { EventRefusedError, type HostedThread } from "@colloquy/host";
import { ConfigurationError, lastTurnOf, messagesOf, type SeedDraft, type State, type Turn } from "@colloquy/machine";
import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { AIMessage, AIMessageChunk, type BaseMessage, type StoredMessage, ToolMessage } from "@langchain/core/messages";
import * as Either from "fp-ts/lib/Either.js";
import { fromBaseMessages, revived, storedOf, toBaseMessages } from "./messages.ts";

/**
 * Makes a thread a chat history of LangChain, such as for `RunnableWithMessageHistory`.
 *
 * The messages of one `addMessages` become one turn of the thread, whole or not at all; no model is called. A message
 * whose id is on the path already is not added again. Calls without results wait, shown last, until their results come;
 * if another message comes first, they get results that say that there are none. Messages are read and written in the
 * order in which they were added. `clear` clears the thread: the head moves, and nothing is removed.
 *
 * Rejects as the thread's own methods do, and with `EventRefusedError` for messages that a thread cannot take.
 *
 * @throws ConfigurationError for a value that is not a thread.
 */
export const threadHistory = (thread: HostedThread): BaseListChatMessageHistory => {
  const given: unknown = thread;
  if (typeof given !== "object" || given === null || !("addTurn" in given))
    throw new ConfigurationError('threadHistory needs a thread, such as host.thread("ada"); a host or an id is none');
  return new ThreadHistory(thread);
};

class ThreadHistory extends BaseListChatMessageHistory {
  // The name is LangChain's.
  override lc_namespace = ["colloquy"];
  readonly #thread: HostedThread;
  /** Resolves after the earlier additions, because each depends on the calls that wait in the thread. */
  #added: Promise<unknown> = Promise.resolve();

  constructor(thread: HostedThread) {
    super();
    this.#thread = thread;
  }

  override async getMessages(): Promise<BaseMessage[]> {
    return this.#messagesOf(await this.#thread.state());
  }

  override addMessage(message: BaseMessage): Promise<void> {
    return this.addMessages([message]);
  }

  override addMessages(messages: BaseMessage[]): Promise<void> {
    const added = this.#added.then(() => this.#add(messages));
    this.#added = added.catch(() => {});
    return added;
  }

  override async clear(): Promise<void> {
    if ((await this.#thread.state()) !== null) await this.#thread.clear();
  }

  async #add(messages: readonly BaseMessage[]): Promise<void> {
    const state = await this.#thread.state();
    const head = state === null ? undefined : lastTurnOf(state);
    const all = answered(waitingIn(head), notYet(this.#messagesOf(state), messages));
    const open = openRoundIn(all);
    const waiting = { [waitingName]: all.slice(open).map(storedOf) };
    const drafts = this.#draftsOf(all.slice(0, open));
    if (drafts.length > 0) return this.#thread.addTurn(drafts, open < all.length ? waiting : undefined);
    if (open === all.length) return;
    if (head === undefined) throw this.#refusal("it begins with calls that have no results: add what was asked first");
    await this.#thread.annotate(head.number, waitingName, waiting[waitingName] ?? []);
  }

  #draftsOf(messages: readonly BaseMessage[]): readonly SeedDraft[] {
    const imported = fromBaseMessages(messages);
    if (Either.isLeft(imported)) throw this.#refusal(imported.left.reason);
    const { system, turns } = imported.right;
    const leading = typeof system === "string" ? { role: "system" as const, content: system } : system;
    return [...(leading === null ? [] : [leading]), ...turns.flat()];
  }

  #refusal(reason: string): EventRefusedError {
    return new EventRefusedError(this.#thread.id, { kind: "invalid", reason });
  }

  #messagesOf(state: State | null): BaseMessage[] {
    if (state === null) return [];
    const said = messagesOf(state);
    return [
      ...toBaseMessages(said).map((message, index) => {
        message.id ??= `${this.#thread.id}/${said[index]?.id ?? index}`;
        return message;
      }),
      ...waitingIn(lastTurnOf(state)),
    ];
  }
}

/** The name of the metadata or annotation with the calls that wait after a turn, and their results so far. */
const waitingName = "langchain.waiting";

const waitingIn = (turn: Turn | undefined): readonly BaseMessage[] => {
  const annotation = turn?.annotations?.findLast(({ name }) => name === waitingName);
  const waiting = annotation === undefined ? turn?.metadata?.[waitingName] : annotation.value;
  return Array.isArray(waiting) ? waiting.flatMap((message: StoredMessage) => revived(message) ?? []) : [];
};

/** Returns the messages with new ids, each once. */
const notYet = (there: readonly BaseMessage[], messages: readonly BaseMessage[]): readonly BaseMessage[] => {
  const known = new Set(there.map(({ id }) => id));
  return messages.filter(({ id }) => {
    const isNew = id === undefined || !known.has(id);
    known.add(id);
    return isNew;
  });
};

/** Adds messages to calls that wait. Calls that still have no result before another message get one that says so. */
const answered = (waiting: readonly BaseMessage[], messages: readonly BaseMessage[]): readonly BaseMessage[] => {
  const next = messages.findIndex((message) => message.getType() !== "tool");
  if (waiting.length === 0 || next === -1) return [...waiting, ...messages];
  const round = [...waiting, ...messages.slice(0, next)];
  const none = unanswered(round).map((id) => new ToolMessage({ tool_call_id: id, content: noResult, status: "error" }));
  return [...round, ...none, ...messages.slice(next)];
};

const noResult = "No result: the call was interrupted.";

/** Returns the start of an incomplete round at the end of messages; their number if there is none. */
const openRoundIn = (messages: readonly BaseMessage[]): number => {
  const last = messages.findLastIndex((message) => message.getType() !== "tool");
  return last === -1 || unanswered(messages.slice(last)).length === 0 ? messages.length : last;
};

/** Returns the ids of the calls of the first message that the others do not answer. */
const unanswered = ([asked, ...results]: readonly BaseMessage[]): readonly string[] => {
  if (!AIMessage.isInstance(asked) && !AIMessageChunk.isInstance(asked)) return [];
  const ids = [...(asked.tool_calls ?? []), ...(asked.invalid_tool_calls ?? [])].map(({ id = "" }) => id);
  return ids.filter((id) => !results.some((result) => ToolMessage.isInstance(result) && result.tool_call_id === id));
};
