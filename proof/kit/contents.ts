// The data that the writers write. Each item shows by itself whether it is whole: an entry carries the digest of its
// text, and the text of a chunk or an envelope follows from its id.
import { createHash } from "node:crypto";

import type { InboxItem } from "@colloquy/host/store";
import type { Entry, Json } from "@colloquy/machine";

/** Threads that are written to at the same time; their ids try the names of files as well. */
export const threadIds: readonly string[] = ["alpha", "Alpha", "../beta", "γ".repeat(100)];

/** An entry of so many characters. Its digest is that of its text. */
export const entryOf = (threadId: string, seq: number, label: string, length: number): Entry => {
  const metadata = { text: textOf(label, length), digest: digestOf(textOf(label, length)) };
  if (seq === 0) return { seq, format: 2, event: { type: "thread.started", at: 0, threadId, metadata } };
  return { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "note", value: label, metadata } };
};

/** The digest of a stored entry; null for one that is not whole. */
export const digestIn = (entry: unknown): string | null => {
  const { text, digest } = (entry as StoredShape | null)?.event?.metadata ?? {};
  return typeof text === "string" && digestOf(text) === digest ? digest : null;
};

interface StoredShape {
  readonly event?: { readonly metadata?: { readonly text?: Json; readonly digest?: Json } };
}

/** The head of a snapshot; `number` counts the snapshots of its thread. */
export interface Head {
  readonly number: number;
  readonly chunks: readonly string[];
}

// Only what is made here is stored as a head.
export const headIn = (text: string): Head => JSON.parse(text) as Head;

export const chunkText = (id: string): string => JSON.stringify(textOf(id, 2000));

export const envelopeOf = (id: string): InboxItem => ({
  id,
  event: { type: "ask.received", at: 1, askId: id, input: textOf(id, 300) },
});

const textOf = (label: string, length: number): string =>
  `${label} é🙂 `.repeat(Math.ceil(length / 4)).slice(0, length);

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
