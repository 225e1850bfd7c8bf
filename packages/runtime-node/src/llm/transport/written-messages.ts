import type { CallLlm, Json, JsonObject, Message } from "@colloquy/machine";
import { type Wire, wireMessages, WireState } from "../wire/messages.ts";

/** The messages of a call as they stand in the body of its request: a list, in JSON already. */
export class WrittenMessages {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** Whoever looks at a body in another way finds the list. */
  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

/** What of it is kept. */
export interface WritingOptions {
  /**
   * What was written of the messages of a thread's last call is kept, and the messages with it, so that the next call writes
   * only what is new. So many bytes at most, of all threads together; those that were called longest ago fall out. Default
   * 32 MiB; 0 keeps nothing, and nothing is kept with a `client` of one's own.
   */
  readonly writtenBytes?: number;
}

/** Writes the messages of a call. Calls of one thread that are written in different ways have different variants. */
export type MessageWriter = (call: CallLlm, variant?: string) => WrittenMessages | readonly JsonObject[];

/** Writes messages, as they go to the server, in one API: each, and the results that follow it. Of those before it knows the ids. */
export type MessageFormat = (
  messages: readonly Message[],
  variant: string,
  { itemIds }: Pick<WireState, "itemIds">,
) => readonly JsonObject[];

/**
 * The writer of a handler. A client that was given (of Azure, or with methods of its own) may look into the body that it is to
 * send, so it is given the messages themselves.
 */
export const writerFor = (
  { isGiven, options }: { readonly isGiven: boolean; readonly options: WritingOptions },
  format: MessageFormat,
  wireOf: (call: CallLlm) => Wire,
): MessageWriter =>
  isGiven
    ? (call, variant = "") => {
        const state = new WireState();
        return format(wireMessages(call.messages, wireOf(call), state), variant, state);
      }
    : messageWriter(format, wireOf, options.writtenBytes);

/**
 * Keeps what it has written of each thread, and writes only what is new where the messages begin with those of the call
 * before, as they nearly always do: the JSON is the same as if all were written. A whole history of 4,000 messages takes
 * 12 ms to write, and 10 µs to go on with. What a string is added to is not copied before it is sent.
 *
 * @param mostBytes So much is kept at most, at two bytes a character; threads that were called longest ago fall out.
 */
export const messageWriter = (
  format: MessageFormat,
  wireOf: (call: CallLlm) => Wire,
  mostBytes: number = defaultBytes,
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
    // What a summary is made of is asked for once.
    if (purpose === "summary" || mostBytes === 0) return new WrittenMessages(`[${written(new WireState(), 0)}]`);
    const key = JSON.stringify([threadId, variant, wire.dialect.name, wire.origin]);
    const before = threads.get(key);
    if (before !== undefined) forget(key, before);
    const end = lastUnitIn(messages);
    const known = before !== undefined && before.end <= end && beginsWith(messages, before) ? before : nothing();
    const { state } = known;
    const json = joined(known.json, end > known.end ? written(state, known.end, end) : "");
    // They are written again, so what is known of them is not kept.
    const rest = written(new WireState(state), end);
    // The messages are kept with it, those that will be written again among them.
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

/** 32 MiB. */
const defaultBytes = 2 ** 25;

/** How the first messages of a call are written: those before `end`. */
interface Written {
  readonly messages: readonly Message[];
  readonly end: number;
  readonly json: string;
  /** What is known of them for those that follow. Only the newest of a thread is kept, so it may be changed. */
  readonly state: WireState;
  /** What keeping it takes. */
  readonly bytes: number;
}

const nothing = (): Written => ({ messages: [], end: 0, json: "", state: new WireState(), bytes: 0 });

/** Messages never change, so those that are the same objects are written the same. */
const beginsWith = (messages: readonly Message[], { messages: before, end }: Written): boolean => {
  for (let index = 0; index < end; index++) if (messages[index] !== before[index]) return false;
  return true;
};

/** Where the last message stands that is no result: more results of its calls may follow, and are written together with it. */
const lastUnitIn = (messages: readonly Message[]): number => {
  let index = messages.length - 1;
  while (index > 0 && messages[index]?.role === "tool") index -= 1;
  return Math.max(index, 0);
};

const joined = (before: string, after: string): string =>
  before === "" || after === "" ? before + after : `${before},${after}`;

/** The body of a request. What of it is written already is sent as it is. */
export interface RequestBody {
  readonly [parameter: string]: Json | WrittenMessages | undefined;
}

/** What the SDK is to send: the text of a body that is written in part, as `JSON.stringify` writes it; any other body as it is. */
export const sentBody = (
  body: RequestBody,
): { readonly body: string | RequestBody; readonly headers?: { readonly "content-type": "application/json" } } =>
  Object.values(body).some((value) => value instanceof WrittenMessages)
    ? { body: writtenBody(body), headers: { "content-type": "application/json" } }
    : { body };

/** A body as `JSON.stringify` writes it. */
export const writtenBody = (body: RequestBody): string => {
  let members = "";
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const json = value instanceof WrittenMessages ? value.json : JSON.stringify(value);
    // Added and not joined, which would copy what was written before.
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:`;
    members += json;
  }
  return `{${members}}`;
};
