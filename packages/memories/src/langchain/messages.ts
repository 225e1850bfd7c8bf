import {
  fromLangChainMessages,
  type Imported,
  type ImportOptions,
  type ImportProblem,
  type LangChainMessage,
  toLangChainMessages,
} from "@colloquy/interchange";
import type { Json, Message } from "@colloquy/machine";
import {
  type BaseMessage,
  isBaseMessage,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from "@langchain/core/messages";
import type * as Either from "fp-ts/lib/Either.js";

/** Messages of a thread as LangChain's. What LangChain has no place for is kept in their `additional_kwargs.colloquy`; `toLangChainMessages` lists what is lost. */
export const toBaseMessages = (messages: readonly Message[]): BaseMessage[] =>
  mapStoredMessagesToChatMessages(toLangChainMessages(messages).value.map(asStored));

/**
 * Reads a conversation of LangChain: what any of its histories gives, or messages as they are stored. `right` is what
 * `host.importMessages` takes. Says which message is none, or which call and result do not fit, and the way out.
 */
export const fromBaseMessages = (
  messages: readonly (BaseMessage | StoredMessage)[],
  options?: ImportOptions,
): Either.Either<ImportProblem, Imported> =>
  fromLangChainMessages(
    messages.map((message) => {
      const live = isBaseMessage(message) ? message : revived(message);
      return live === null ? message : storedOf(live);
    }),
    options,
  );

/** A message as LangChain stores it, with what was said of it since it was made. What is not JSON is left out, as LangChain's own stores do. */
export const storedOf = (message: BaseMessage): Json => {
  const data = fields.map((field) => [field, Reflect.get(message, field)] as const);
  // What JSON was written comes back as JSON.
  return JSON.parse(JSON.stringify({ type: message.getType(), data: Object.fromEntries(data) })) as Json;
};

/** A message that was stored, also by an older version; null for what LangChain can't read. */
export const revived = (message: StoredMessage): BaseMessage | null => {
  try {
    // LangChain writes into what it reads.
    return mapStoredMessagesToChatMessages([copyOf(message)])[0] ?? null;
  } catch {
    return null;
  }
};

/** LangChain's type of what it stores knows texts as content only, and not the fields of each kind of message. */
const asStored = (message: LangChainMessage): StoredMessage => copyOf(message as object as StoredMessage);

/** Plain JSON, to be written into. */
const copyOf = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

const fields = [
  "content",
  "id",
  "name",
  "role",
  "additional_kwargs",
  "response_metadata",
  "usage_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_id",
  "status",
  "artifact",
] as const;
