import type { CallLlm, Json, JsonObject, Message } from "@colloquy/machine";
import { type Wire, wireMessages, WireState } from "../wire/messages.ts";

/** The messages of a request as JSON. */
export class WrittenMessages {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

export interface WritingOptions {
  /**
   * The JSON of the messages of each thread's last call is kept, and the messages with it, so that the next call writes only
   * new ones. The most bytes of all threads together; the least recently called threads are forgotten first. Default 32 MiB;
   * 0 keeps nothing. Nothing is kept for a `client` of your own.
   */
  readonly writtenBytes?: number;
}

/** Writes messages in the form of one API. It knows the item ids of the messages before them. */
export type MessageFormat = (
  messages: readonly Message[],
  variant: string,
  { itemIds }: Pick<WireState, "itemIds">,
) => readonly JsonObject[];

/**
 * Returns the writer of a handler. Calls of one thread that are written in different ways have different variants. A given client
 * may look into the body that it sends, so it gets the messages themselves.
 */
export const writerFor = (
  { isGiven, options }: { readonly isGiven: boolean; readonly options: WritingOptions },
  format: MessageFormat,
  wireOf: (call: CallLlm) => Wire,
): ((call: CallLlm, variant: string) => WrittenMessages | readonly JsonObject[]) => {
  if (!isGiven) return messageWriter(format, wireOf, options.writtenBytes);
  return (call, variant) => {
    const state = new WireState();
    return format(wireMessages(call.messages, wireOf(call), state), variant, state);
  };
};

/**
 * Returns a writer that keeps the JSON of each thread, and writes only new messages if a call begins with the messages of the
 * call before, as nearly all do. The JSON is the same as without. Writing 4,000 messages takes 12 ms, continuing them 10 µs.
 *
 * @param mostBytes bounds what is kept, at two bytes a character.
 */
export const messageWriter = (
  format: MessageFormat,
  wireOf: (call: CallLlm) => Wire,
  mostBytes: number = 2 ** 25,
): ((call: CallLlm, variant?: string) => WrittenMessages) => {
  const threads = new Map<string, Written>();
  let bytes = 0;
  const forget = (key: string, before: Written): void => {
    threads.delete(key);
    bytes -= before.bytes;
  };
  return (call, variant = "") => {
    const { threadId, purpose, messages } = call;
    const wire = wireOf(call);
    const written = (state: WireState, from: number, to?: number): string =>
      JSON.stringify(format(wireMessages(messages.slice(from, to), wire, state), variant, state)).slice(1, -1);
    // A summary is asked for once.
    if (purpose === "summary") return new WrittenMessages(`[${written(new WireState(), 0)}]`);
    const key = JSON.stringify([threadId, variant, wire.dialect.name, wire.origin]);
    const before = threads.get(key);
    if (before !== undefined) forget(key, before);
    // What follows cannot change the messages before it: results are written together, and system messages.
    const end = Math.max(messages.findLastIndex(isUnit), 0);
    // Messages never change, so the same objects are written the same.
    const isKnown =
      before !== undefined && before.end <= end && isUnit(messages[before.end]) && beginsWith(messages, before);
    const known = isKnown ? before : { end: 0, json: "", state: new WireState() };
    const { state } = known;
    const json = joined(known.json, end > known.end ? written(state, known.end, end) : "");
    // The next call writes the rest again, so its state is not kept, but its messages are.
    const rest = written(new WireState(state), end);
    const size = 2 * (key.length + json.length + rest.length);
    if (json !== "" && size <= mostBytes) {
      threads.set(key, { messages, end, json, state, bytes: size });
      bytes += size;
      for (const [oldest, kept] of threads) {
        if (bytes <= mostBytes) break;
        forget(oldest, kept);
      }
    }
    return new WrittenMessages(`[${joined(json, rest)}]`);
  };
};

/** The messages of a call before `end`, as JSON. */
interface Written {
  readonly messages: readonly Message[];
  readonly end: number;
  readonly json: string;
  /** The state after them, which the next call of the thread changes. */
  readonly state: WireState;
  readonly bytes: number;
}

/** By index: it looks at each message of a long history in each call. */
const beginsWith = (messages: readonly Message[], before: Written): boolean => {
  for (let at = 0; at < before.end; at++) if (messages[at] !== before.messages[at]) return false;
  return true;
};

const isUnit = (message: Message | undefined): boolean => message?.role === "user" || message?.role === "assistant";

const joined = (before: string, after: string): string =>
  before === "" || after === "" ? before + after : `${before},${after}`;

/** The body of a request. Parts of it may be JSON already. */
export interface RequestBody {
  readonly [parameter: string]: Json | WrittenMessages | undefined;
}

/** Returns the options that make the SDK send a body: its text if parts of it are JSON already, else the body itself. */
export const sentBody = (
  body: RequestBody,
): { readonly body: string | RequestBody; readonly headers?: { readonly "content-type": "application/json" } } =>
  Object.values(body).some((value) => value instanceof WrittenMessages)
    ? { body: writtenBody(body), headers: { "content-type": "application/json" } }
    : { body };

/** Writes a body as `JSON.stringify` does. */
export const writtenBody = (body: RequestBody): string => {
  let members = "";
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const json = value instanceof WrittenMessages ? value.json : JSON.stringify(value);
    // Appending does not copy the JSON; joining would.
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:`;
    members += json;
  }
  return `{${members}}`;
};
