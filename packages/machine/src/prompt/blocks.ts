import { chunkSize } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";

/** What a prompt is made of, newest first: a block for each turn that is shown, or for several, and for what stands before them. */
export interface Blocks {
  readonly messages: readonly (readonly Message[])[];
  /** What each shows as it is, a turn or several that lie together; null where it shows anything else. */
  readonly turns: readonly (Turn | PartOfRun | null)[];
}

/** Turns that lie together, from one of them to the last. */
export interface PartOfRun {
  readonly run: readonly Turn[];
  readonly from: number;
}

/** Blocks, which stand newest first, as one list. */
export const messagesIn = ({ messages }: Blocks): readonly Message[] => {
  // One frozen list makes `concat` several times as slow, for all: the turns that lie in one chunk are, and are short.
  const blocks = messages.map((block) => (block.length > chunkSize ? block : [...block])).reverse();
  const nothing: readonly Message[] = [];
  if (blocks.length <= mostArguments) return nothing.concat(...blocks);
  const parts: (readonly Message[])[] = [];
  for (let index = 0; index < blocks.length; index += mostArguments)
    parts.push(nothing.concat(...blocks.slice(index, index + mostArguments)));
  return parts.flat();
};

/** A call takes no more than some ten thousands. */
const mostArguments = 1_000;
