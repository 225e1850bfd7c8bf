import { PromptDigest } from "../thread/make-message.ts";
import type { Message } from "../thread/message.ts";
import type { ExpectedOutput } from "../thread/turn.ts";
import { type Thread, turnOf } from "../thread/thread.ts";
import { beginsWith, isAppended, toArray } from "../thread/chunks.ts";
import type { Counts } from "./counts.ts";
import type { Cut } from "./cut.ts";
import { blocksOf, type PromptParts } from "./render.ts";

/** Renders the prompts of model calls, each from the beginning or by extending the last one. */
export interface Prompts {
  /** Renders the open turn's prompt as `render` does, with its digest. */
  readonly render: (
    thread: Thread,
    cut: Cut,
    system: Message | null,
    open: readonly Message[],
    output: Omit<ExpectedOutput, "repairs"> | undefined,
  ) => { readonly messages: readonly Message[]; readonly digest: string };
}

/** Renders each prompt from the beginning. */
export const promptsAnew: Prompts = Object.freeze<Prompts>({
  render: (thread, cut, system, open, output) =>
    promptFrom(promptOf(undefined, partsOf(thread, system, open), cut, null), output),
});

/**
 * Renders prompts incrementally. A thread's next prompt usually begins with the whole last one (law P9). So the renderer
 * keeps the last list and its digest, and adds only new messages. It compares adjacent turns as one block. Each call
 * then only copies references. At turn 1,000, a third of a call went into computing all digests again, and another third
 * into joining the blocks again.
 *
 * One prompt is kept for each thread, as long as the thread is. States that branched off one thread share it. The kept
 * prompt then often belongs to another branch, and rendering starts from the beginning.
 */
export const grownPrompts = (counts: Counts): Prompts => {
  // A thread's place stays: to delete a key and set it again takes twenty times as long as to look it up.
  const places = new WeakMap<object, { kept: Kept | undefined }>();
  return Object.freeze<Prompts>({
    render: (thread, cut, system, open, output) => {
      // The seed's list, even an empty one, is the same object throughout a thread.
      let place = places.get(thread.seed);
      if (place === undefined) places.set(thread.seed, (place = { kept: undefined }));
      let { kept } = place;
      // If reading a message throws, the kept prompt is incomplete.
      place.kept = undefined;
      if (kept === undefined || !extend(kept, thread, cut, system, open)) {
        const grown = promptOf(kept, partsOf(thread, system, open), cut, counts);
        kept = { ...grown, thread, cut, system, open };
      }
      place.kept = kept;
      return promptFrom(kept, output);
    },
  });
};

/** Returns the parts of a prompt that is made during a turn. */
export const partsOf = (thread: Thread, system: Message | null, open: readonly Message[]): PromptParts => ({
  thread,
  system,
  open: () => open,
  isOpen: () => true,
});

interface Grown {
  /** The messages of all blocks. Only this module adds to the list, so each prompt gets a copy. */
  readonly messages: Message[];
  /** The digest of these messages. */
  readonly digest: PromptDigest;
  /** The blocks, oldest first, since a prompt grows at its end. Only this module changes the list. */
  readonly blocks: (readonly Message[])[];
}

/** A prompt with the thread, cut, system message and open turn that it was made of. Only this module changes it. */
interface Kept extends Grown {
  thread: Thread;
  readonly cut: Cut;
  readonly system: Message | null;
  open: readonly Message[];
}

/**
 * Extends the kept prompt if the next one adds only messages of the open turn, and at most one closed turn. Returns false
 * and changes nothing if more may have changed. Finding all blocks again took a fifth of turn 1,000.
 */
const extend = (kept: Kept, thread: Thread, cut: Cut, system: Message | null, open: readonly Message[]): boolean => {
  const { blocks, open: shown } = kept;
  const isPlain = cut.shrink === undefined && cut.dropped === undefined && cut.fields === undefined;
  // A question may have been inserted into the block of the open turn.
  if (!isPlain || kept.cut !== cut || kept.system !== system || blocks.at(-1) !== shown) return false;
  const isClosed = thread !== kept.thread;
  const said = isClosed ? saidInNext(thread, kept) : open;
  // The kept prompt may belong to another branch, with another open turn.
  if (said === null || !beginsWith(said, shown)) return false;
  addMessages(kept, said, shown.length);
  blocks[blocks.length - 1] = said;
  if (isClosed) {
    addMessages(kept, open, 0);
    blocks.push(open);
  }
  kept.thread = thread;
  kept.open = open;
  return true;
};

/** Returns what the next turn after a prompt said, if it completed; null if more may have changed than this turn. */
const saidInNext = (thread: Thread, { thread: shown, cut, open }: Kept): readonly Message[] | null => {
  const last = isAppended(thread.turns, shown.turns) ? turnOf(thread, thread.turns.length) : undefined;
  const isNext = last?.parent === shown.head && thread.head === last.number && thread.pins === shown.pins;
  if (!isNext || last.outcome.status !== "completed" || (cut.from?.turn ?? 0) >= last.number) return null;
  // An empty turn may need a question before it.
  return open.length === 0 ? null : toArray(last.messages);
};

const promptFrom = (
  { messages, digest }: Grown,
  output: Parameters<Prompts["render"]>[4],
): ReturnType<Prompts["render"]> => ({ messages: messages.slice(), digest: digest.of(output) });

/** Makes a prompt of all blocks. If they begin with those of an earlier prompt, its lists are extended and used. */
const promptOf = (before: Grown | undefined, parts: PromptParts, cut: Cut, counts: Counts | null): Grown => {
  const blocks = blocksOf(parts, cut, counts).messages.toReversed();
  const end = before === undefined ? null : endOfPrefix(before.blocks, blocks);
  const { messages, digest } = before === undefined || end === null ? noPrompt() : before;
  const grown = { messages, digest, blocks };
  let from = end?.message ?? 0;
  for (const block of blocks.slice(end?.block)) {
    addMessages(grown, block, from);
    from = 0;
  }
  return grown;
};

const noPrompt = (): Pick<Grown, "messages" | "digest"> => ({ messages: [], digest: new PromptDigest() });

const addMessages = ({ messages, digest }: Grown, block: readonly Message[], from: number): void => {
  // By index: frozen lists have slow iterators, and to slice one takes ten times as long.
  for (let index = from; index < block.length; index++) {
    const added = block[index];
    if (added === undefined) continue;
    digest.add(added);
    messages.push(added);
  }
};

/** Returns where the messages of `prefix` end within `blocks`; null if the blocks do not begin with them. */
const endOfPrefix = (
  prefix: readonly (readonly Message[])[],
  blocks: readonly (readonly Message[])[],
): { readonly block: number; readonly message: number } | null => {
  let block = 0;
  let message = 0;
  for (const wanted of prefix) {
    // A prompt shows no message twice, so this is the beginning of the block.
    if (wanted === blocks[block]) message += wanted.length;
    else for (let at = 0; at < wanted.length; at++) if (wanted[at] !== blocks[block]?.[message++]) return null;
    while (message === blocks[block]?.length) {
      block += 1;
      message = 0;
    }
  }
  return { block, message };
};
