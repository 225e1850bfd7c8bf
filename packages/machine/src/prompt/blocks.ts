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
export const messagesIn = ({ messages }: Blocks): readonly Message[] =>
  // One frozen list makes `concat` several times as slow, for all: the turns that lie in one chunk are, and are short.
  joined(messages.map((block) => (block.length > chunkSize ? block : [...block])).reverse());

/** Lists as one. (`flat` takes ten times as long.) */
const joined = <Element>(lists: readonly (readonly Element[])[]): readonly Element[] => {
  const nothing: readonly Element[] = [];
  if (lists.length <= mostArguments) return nothing.concat(...lists);
  const parts: (readonly Element[])[] = [];
  for (let index = 0; index < lists.length; index += mostArguments)
    parts.push(joined(lists.slice(index, index + mostArguments)));
  return joined(parts);
};

/** A call takes no more than some ten thousands. */
const mostArguments = 1_000;
