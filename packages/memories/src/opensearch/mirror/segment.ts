import { digestOf, type Json, type Message, type State, textOf, toArray, type Turn, turnsOf } from "@colloquy/machine";
import { z } from "zod";

/**
 * The messages that are written as one message of a memory. Within a turn, a segment ends before the next user message
 * that follows an answer.
 */
export interface Segment {
  readonly turn: number;
  /** The index of the segment in its turn, from 0. */
  readonly part: number;
  /** The digest of all its messages. */
  readonly digest: string;
  readonly messages: readonly Message[];
}

/** Returns the segments of the seed and of the closed turns on the path. */
export const segmentsOf = (state: State): readonly Segment[] => [...ofSeed(state), ...turnsOf(state).flatMap(ofTurn)];

/** Returns the segments of the seed and of all closed turns, on the path or off it. */
export const allSegmentsOf = (state: State): readonly Segment[] => [
  ...ofSeed(state),
  ...toArray(state.context.conversation.turns).flatMap(ofTurn),
];

const ofSeed = ({ context }: State): readonly Segment[] => segmentsIn(0, context.conversation.seed);

const ofTurn = ({ number, messages }: Turn): readonly Segment[] => segmentsIn(number, toArray(messages));

const segmentsIn = (turn: number, messages: readonly Message[]): readonly Segment[] =>
  split(messages).map((part, index) => segmentOf(turn, index, part));

/** Returns a user's text and its answer, for other tools; each is absent if it is empty. */
export const pairOf = (messages: readonly Message[]): { readonly input?: string; readonly response?: string } => {
  const said = (role: Message["role"]): readonly string[] =>
    messages
      .filter((message) => message.role === role)
      .map(textOf)
      .filter((text) => text.trim() !== "");
  const input = said("user").join("\n");
  const response = said("assistant").at(-1) ?? "";
  return { ...(input === "" ? {} : { input }), ...(response === "" ? {} : { response }) };
};

/** Returns the key of a segment. Segments with the same place and content have the same key. */
export const keyOf = ({ turn, part, digest }: Segment): string => `${turn}.${part}:${digest}`;

/** Converts a segment to `additional_info`, with our own names. */
export const infoOf = (
  threadId: string,
  seq: number,
  place: number,
  segment: Segment,
): Readonly<Record<string, string>> => {
  // ASCII, so that it can be cut anywhere and survives any encoding.
  const text = JSON.stringify({ thread: threadId, seq, place, ...segment }).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const pieces = Array.from({ length: Math.ceil(text.length / longest) }, (_, index) =>
    text.slice(index * longest, (index + 1) * longest),
  );
  return Object.fromEntries(pieces.map((piece, index) => [nameAt(index), piece]));
};

/** A written segment, and its place. */
export interface Mirrored extends Segment {
  readonly thread: string;
  /** The newest entry of the journal at the time of writing. */
  readonly seq: number;
  /** Its place in the memory, from 0. */
  readonly place: number;
}

/** Returns the segment in a message's `additional_info` if it is complete and unchanged; otherwise null. */
export const mirroredIn = (info: { readonly [name: string]: string }): Mirrored | null => {
  let text = "";
  for (let index = 0; Object.hasOwn(info, nameAt(index)); index++) text += info[nameAt(index)];
  const read = mirrored.safeParse(parsed(text));
  if (!read.success) return null;
  // The digest proves that these are messages of a thread.
  const messages = read.data.messages as unknown as readonly Message[];
  return digestOf(read.data.messages as Json) === read.data.digest ? { ...read.data, messages } : null;
};

/** Sorts segments by their place, each place once, because two concurrent mirrors may have written one twice. */
export const inPlace = (segments: readonly Mirrored[]): readonly Mirrored[] =>
  segments
    .toSorted((left, right) => left.place - right.place)
    .filter(({ place }, index, all) => place !== all[index - 1]?.place);

const segmentOf = (turn: number, part: number, messages: readonly Message[]): Segment => ({
  turn,
  part,
  // Messages are plain JSON; an undefined member does not count.
  digest: digestOf(messages as unknown as Json),
  messages,
});

const split = (messages: readonly Message[]): readonly (readonly Message[])[] => {
  const parts: Message[][] = [];
  let part: Message[] = [];
  for (const message of messages) {
    if (message.role === "user" && part.some(({ role }) => role === "assistant")) {
      parts.push(part);
      part = [];
    }
    part.push(message);
  }
  return part.length === 0 ? parts : [...parts, part];
};

const nameAt = (index: number): string => (index === 0 ? "colloquy" : `colloquy_${index}`);

/**
 * The largest length of a text in 2.12's `additional_info`. The service indexes each as one term, and Lucene's limit is
 * 32,766 bytes.
 */
const longest = 30_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const count = z.int().nonnegative();
const mirrored = z.object({
  thread: z.string(),
  seq: count,
  place: count,
  turn: count,
  part: count,
  digest: z.string(),
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) }),
  ),
});
