import { chunkSize } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";

/** The parts of a prompt, newest first: a block for each shown turn or run, and for the messages before them. */
export interface Blocks {
  readonly messages: readonly (readonly Message[])[];
  /** The turn or the part of a run that a block shows unchanged; null if it shows anything else. */
  readonly turns: readonly (Turn | PartOfRun | null)[];
}

export interface PartOfRun {
  readonly run: readonly Turn[];
  readonly from: number;
}

/** Joins blocks, which are newest first, into one list. */
export const messagesIn = ({ messages }: Blocks): readonly Message[] =>
  // One frozen list makes `concat` several times slower for all lists. The turns of one chunk are frozen, and short
  // enough to copy.
  joined(messages.map((block) => (block.length > chunkSize ? block : [...block])).reverse());

/** Joins lists into one. (`flat` takes ten times as long.) */
const joined = <Element>(lists: readonly (readonly Element[])[]): readonly Element[] => {
  const nothing: readonly Element[] = [];
  if (lists.length <= mostArguments) return nothing.concat(...lists);
  const parts = Array.from({ length: Math.ceil(lists.length / mostArguments) }, (_, part) =>
    joined(lists.slice(part * mostArguments, (part + 1) * mostArguments)),
  );
  return joined(parts);
};

/** A function call accepts only some ten thousand arguments. */
const mostArguments = 1_000;
