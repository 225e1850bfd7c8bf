import * as Either from "fp-ts/lib/Either.js";
import type { Entry } from "../conversation/protocol/entry.ts";
import type { State } from "../conversation/protocol/data.ts";
import { type Chunks, chunkSize, loaded } from "../thread/chunks.ts";
import { digestOf } from "../thread/make-message.ts";
import { type Json, type JsonObject, frozen } from "../thread/plain-data.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";
import { type ElementReader, type ElementWriter, ListReader, ListWriter, type Written } from "./chunks.ts";
import { type PackedMessage, packMessages, unpackMessages } from "./message.ts";
import { StoredChunks } from "./stored.ts";
import { type PackedTurn, packTurns, unpackTurns } from "./turn.ts";

/** The format of snapshots. It rises with each change of the state or of its encoding, and of journals; other formats are refused. */
const snapshotFormat = 2;

/** A state to store: its head, and those of its chunks that are not stored yet. */
export interface Snapshot {
  readonly threadId: string;
  /** The `seq` of the newest entry that it includes. */
  readonly seq: number;
  readonly head: string;
  /** New chunks by id. An id is derived from the text, so equal ids mean equal chunks. */
  readonly chunks: ReadonlyMap<string, string>;
  /** The ids of stored chunks that are no longer needed. */
  readonly dropped: readonly string[];
  /** Pass it to `StoredChunks.keep` after storing the snapshot. */
  readonly written: Written;
}

/** A state that was read from a store. */
export interface ReadSnapshot {
  /** Its older turns are read on first access, which throws a `SnapshotDamagedError` if they are unreadable. */
  readonly state: State;
  readonly seq: number;
  /**
   * The digest of the entry at `seq` by `anchorOf`. If the journal's digest differs, the snapshot belongs to another
   * journal.
   */
  readonly anchor: string;
  readonly stored: StoredChunks;
}

/**
 * Takes a snapshot of a state. Pure, except that it reads the chunks of a state that came from a snapshot. Its size is
 * bounded by what is new since the last kept snapshot, and some thirty turns.
 *
 * @param newestEntry the entry at `state.context.seq`.
 * @param stored the chunks that the store has; call its `keep` when the snapshot is saved.
 * @throws RangeError if the entry is not the newest one.
 */
export const takeSnapshot = (state: State, newestEntry: Entry, stored: StoredChunks): Snapshot => {
  const { threadId, seq, conversation, open } = state.context;
  if (newestEntry.seq !== seq)
    throw new RangeError(`the state is of entry ${seq}, and entry ${newestEntry.seq} is given as the newest`);
  const writer = new ListWriter(stored);
  const { seed } = conversation;
  const packedSeed = (): readonly Json[] => packMessages(0, seed);
  const body = JSON.stringify({
    ...state,
    context: {
      ...state.context,
      conversation: {
        ...conversation,
        seed: seed.length < chunkSize ? packedSeed() : writer.chunk(seed, "seed", () => JSON.stringify(packedSeed())),
        turns: writer.list(conversation.turns, turnWriter(writer)),
      },
      open: open === null ? null : { ...open, messages: writer.list(open.messages, messageWriter(open.number)) },
    },
  });
  const header: Header = {
    snapshot: snapshotFormat,
    seq,
    anchor: anchorOf(newestEntry),
    digest: digestOf(body),
  };
  const head = `${JSON.stringify(header)}\n${body}`;
  return { threadId, seq, head, chunks: writer.chunks, dropped: stored.leftBy(writer), written: writer };
};

/**
 * Reads the state of a snapshot, or returns an error text if the snapshot is useless. Never throws. Each chunk is read
 * once, on first access.
 *
 * @param chunk returns the text of a chunk, or undefined if it is missing. If it throws, its error becomes the cause
 * of a `SnapshotDamagedError`, and it is called again on the next access.
 */
export const readSnapshot = (
  head: string,
  chunk: (id: string) => string | undefined,
): Either.Either<string, ReadSnapshot> => {
  const end = head.indexOf("\n");
  const header = headerIn(head.substring(0, end));
  if (Either.isLeft(header)) return header;
  const { seq, anchor, digest } = header.right;
  const body = head.slice(end + 1);
  if (digestOf(body) !== digest) return Either.left("its head is not what was written");
  const stored = new StoredChunks();
  try {
    const reader = new ListReader(chunk, stored);
    const packed: unknown = JSON.parse(body);
    const state = frozen(stateIn(packed, reader));
    if (state.context.seq !== seq)
      return Either.left(`it is said to be of entry ${seq}, and is of ${state.context.seq}`);
    stored.begin(reader.roots);
    return Either.right({ state, seq, anchor, stored });
  } catch (thrown) {
    return Either.left(`it can't be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
};

/** Returns the digest of an entry, by which a snapshot recognises its journal. */
export const anchorOf = (entry: Entry): string =>
  // An entry is plain JSON, but an interface has no index signature that would say so.
  digestOf(entry as unknown as Json);

/**
 * Returns the same state with all chunks loaded, for code that sends it to another process or reads its chunks.
 * Returns the same reference if nothing is left in a store.
 *
 * @throws SnapshotDamagedError if a part is unreadable.
 */
export const loadAll = (state: State): State => {
  const { conversation, open } = state.context;
  const turns = loaded(conversation.turns, loadMessages);
  const opened = open === null ? null : loadMessages(open);
  if (turns === conversation.turns && opened === open) return state;
  return frozen({ ...state, context: { ...state.context, conversation: { ...conversation, turns }, open: opened } });
};

/** Returns the same turn with all its messages loaded, as `loadAll` does. @throws SnapshotDamagedError */
export const loadMessages = <Holder extends { readonly messages: Chunks<Message> }>(holder: Holder): Holder => {
  const messages = loaded(holder.messages, (message) => message);
  return messages === holder.messages ? holder : frozen({ ...holder, messages });
};

interface Header {
  readonly snapshot: number;
  readonly seq: number;
  readonly anchor: string;
  readonly digest: string;
}

const headerIn = (line: string): Either.Either<string, Header> => {
  const header = parsed(line);
  if (header === null || Array.isArray(header) || typeof header !== "object") return Either.left("it has no header");
  // Its members are checked one by one.
  const { snapshot, seq, anchor, digest } = header as JsonObject;
  if (snapshot !== snapshotFormat)
    return Either.left(`it has format ${JSON.stringify(snapshot)}, and this version reads ${snapshotFormat}`);
  return typeof seq === "number" && typeof anchor === "string" && typeof digest === "string"
    ? Either.right({ snapshot, seq, anchor, digest })
    : Either.left("its header is not whole");
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Reads the body. Its text was checked against its digest, so it has the written shape. */
const stateIn = (body: unknown, reader: ListReader): State => {
  // The body of a snapshot of this format has this shape.
  const packed = body as PackedState;
  const { conversation, open } = packed.context;
  const { seed, turns } = conversation;
  const read = {
    ...packed,
    context: {
      ...packed.context,
      conversation: {
        ...conversation,
        seed: typeof seed === "string" ? reader.chunk(seed, seedIn) : seedIn(seed),
        turns: reader.list(turns, turnReader(reader)),
      },
      open: open === null ? null : { ...open, messages: reader.list(open.messages, messageReader(open.number)) },
    },
  };
  // All other members are those of the written state, because the head was checked against its digest.
  return read as unknown as State;
};

interface PackedState {
  readonly context: {
    readonly conversation: { readonly seed: Json; readonly turns: Json };
    readonly open: { readonly number: number; readonly messages: Json } | null;
  };
}

// Written by `packMessages`.
const seedIn = (packed: Json): readonly Message[] => unpackMessages(0, packed as readonly PackedMessage[]);

const turnWriter = (writer: ListWriter): ElementWriter<Turn> => ({
  name: "turns",
  pack: (first, turns) => packTurns(first + 1, turns, (turn, messages) => writer.list(messages, messageWriter(turn))),
});

const turnReader =
  (reader: ListReader): ElementReader<Turn> =>
  (first, packed) =>
    // Written by `packTurns`, and below by `packMessages`.
    unpackTurns(first + 1, packed as readonly PackedTurn[], (turn, messages) =>
      reader.list(messages, messageReader(turn)),
    );

const messageWriter = (turn: number): ElementWriter<Message> => ({
  name: `messages${turn}-`,
  pack: (_, messages) => packMessages(turn, messages),
});

const messageReader =
  (turn: number): ElementReader<Message> =>
  (_, packed) =>
    unpackMessages(turn, packed as readonly PackedMessage[]);
