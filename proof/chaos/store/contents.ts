// The data that the users of a store write. Its content follows from its name, so that damage shows.
import type { InboxItem } from "@colloquy/host/store";
import type { Entry, Json } from "@colloquy/machine";

/** The ids of threads that are written concurrently; some are hard as file names. */
export const threadIds: readonly string[] = ["alpha", "Alpha", "../beta", "γ".repeat(100)];

/** An entry under its user's name for it (the user, the lease's token and a number), and how often it was rewritten. */
export interface Written {
  readonly seq: number;
  readonly tag: string;
  readonly version: number;
  /** The number of characters in its text. */
  readonly length: number;
}

export const entryOf = (threadId: string, { seq, tag, version, length }: Written): Entry => {
  const metadata = { tag, version, text: textOf(`${tag}#${version}`, length) };
  if (seq === 0) return { seq, format: 2, event: { type: "thread.started", at: 0, threadId, metadata } };
  return { seq, event: { type: "turn.annotated", at: 0, turn: 1, name: "note", value: tag, metadata } };
};

/** Returns the name of a stored entry; null if the entry is not whole. */
export const writtenIn = (threadId: string, entry: unknown): Written | null => {
  const { seq, event } = (entry ?? {}) as StoredShape;
  const { tag, version, text } = event?.metadata ?? {};
  if (typeof seq !== "number" || typeof tag !== "string" || typeof version !== "number" || typeof text !== "string")
    return null;
  const written = { seq, tag, version, length: text.length };
  return JSON.stringify(entryOf(threadId, written)) === JSON.stringify(entry) ? written : null;
};

interface StoredShape {
  readonly seq?: Json;
  readonly event?: { readonly metadata?: Readonly<Record<string, Json>> };
}

/** The head of a snapshot; `number` grows from one snapshot of a thread to the next. */
export interface Head {
  readonly number: number;
  readonly chunks: readonly string[];
}

export const headIn = (text: string): Head | null => {
  try {
    // Only heads are stored in this place.
    return JSON.parse(text) as Head;
  } catch {
    return null;
  }
};

export const chunkText = (id: string): string => JSON.stringify(textOf(id, 2000));

export const itemOf = (id: string): InboxItem => ({
  id,
  event: { type: "ask.received", at: 1, askId: id, input: textOf(id, 300) },
});

const textOf = (label: string, length: number): string =>
  `${label} é🙂 `.repeat(Math.ceil(length / 4)).slice(0, length);
