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

/**
 * Converts messages of a thread to LangChain's. Fields that LangChain has no place for are kept in
 * `additional_kwargs.colloquy`; `toLangChainMessages` lists the losses.
 */
export const toBaseMessages = (messages: readonly Message[]): BaseMessage[] =>
  mapStoredMessagesToChatMessages(toLangChainMessages(messages).value.map(asStored));

/**
 * Reads a conversation of LangChain: the messages of any of its histories, or stored messages. `right` is the input of
 * `host.importMessages`. The error names the invalid message, or the call and result that do not match, and the remedy.
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

/**
 * Converts a message to LangChain's stored form, with all changes since it was made. Values that are not JSON are left
 * out, as LangChain's own stores do.
 */
export const storedOf = (message: BaseMessage): Json => {
  const data = fields.map((field) => [field, Reflect.get(message, field)] as const);
  // JSON.parse returns JSON.
  return JSON.parse(JSON.stringify({ type: message.getType(), data: Object.fromEntries(data) })) as Json;
};

/** Reads a stored message, also of an older version; returns null if LangChain cannot read it. */
export const revived = (message: StoredMessage): BaseMessage | null => {
  try {
    // LangChain mutates its arguments.
    return mapStoredMessagesToChatMessages([copyOf(message)])[0] ?? null;
  } catch {
    return null;
  }
};

/** Casts a message, because LangChain's type of stored messages lacks lists of content, and some fields. */
const asStored = (message: LangChainMessage): StoredMessage => copyOf(message as object as StoredMessage);

/** Copies plain JSON. */
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
