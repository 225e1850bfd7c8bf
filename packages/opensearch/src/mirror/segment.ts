import { digestOf, type Json, type Message, type State, textOf, toArray, type Turn, turnsOf } from "@colloquy/machine";
import { z } from "zod";

/** What is written as one message of a memory: what was said up to the next user's message that follows an answer, within one turn. */
export interface Segment {
  readonly turn: number;
  /** Which of the turn's segments, from 0. */
  readonly part: number;
  /** Of all that the messages say. */
  readonly digest: string;
  readonly messages: readonly Message[];
}

/** The segments of the closed turns on the path, led by what the thread was seeded with. */
export const segmentsOf = (state: State): readonly Segment[] => [...ofSeed(state), ...turnsOf(state).flatMap(ofTurn)];

/** The same of all closed turns, on the path or off it. */
export const allSegmentsOf = (state: State): readonly Segment[] => [
  ...ofSeed(state),
  ...toArray(state.context.conversation.turns).flatMap(ofTurn),
];

const ofSeed = ({ context }: State): readonly Segment[] => segmentsIn(0, context.conversation.seed);

const ofTurn = ({ number, messages }: Turn): readonly Segment[] => segmentsIn(number, toArray(messages));

const segmentsIn = (turn: number, messages: readonly Message[]): readonly Segment[] =>
  split(messages).map((part, index) => segmentOf(turn, index, part));

/** A user's text and the answer to it, as other tools read them; absent where nothing was said. */
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

/** Segments are the same when they stand for the same, and say it. */
export const keyOf = ({ turn, part, digest }: Segment): string => `${turn}.${part}:${digest}`;

/** A segment as it stands in `additional_info`, under names of ours. */
export const infoOf = (
  threadId: string,
  seq: number,
  place: number,
  segment: Segment,
): Readonly<Record<string, string>> => {
  // ASCII, so that it can be cut anywhere and no server's encoding touches it.
  const text = JSON.stringify({ thread: threadId, seq, place, ...segment }).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const pieces = Array.from({ length: Math.ceil(text.length / longest) }, (_, index) =>
    text.slice(index * longest, (index + 1) * longest),
  );
  return Object.fromEntries(pieces.map((piece, index) => [nameAt(index), piece]));
};

/** A segment that was written, and where. */
export interface Mirrored extends Segment {
  readonly thread: string;
  /** The newest entry of the journal when it was written. */
  readonly seq: number;
  /** Its place in the memory, from 0. */
  readonly place: number;
}

/** The segment that a message's `additional_info` holds, whole and unchanged; null for none. */
export const mirroredIn = (info: { readonly [name: string]: string }): Mirrored | null => {
  let text = "";
  for (let index = 0; Object.hasOwn(info, nameAt(index)); index++) text += info[nameAt(index)];
  const read = mirrored.safeParse(parsed(text));
  if (!read.success) return null;
  // Its digest says that these are messages as a thread had them.
  const messages = read.data.messages as unknown as readonly Message[];
  return digestOf(read.data.messages as Json) === read.data.digest ? { ...read.data, messages } : null;
};

/** In the order in which they were said, each place once: two mirrors at once may have written one twice. */
export const inPlace = (segments: readonly Mirrored[]): readonly Mirrored[] =>
  segments
    .toSorted((left, right) => left.place - right.place)
    .filter(({ place }, index, all) => place !== all[index - 1]?.place);

const segmentOf = (turn: number, part: number, messages: readonly Message[]): Segment => ({
  turn,
  part,
  // Messages are plain JSON; a member that is undefined is none.
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

/** The service indexes each text of 2.12's `additional_info` as one term, which Lucene takes up to 32,766 bytes. */
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
