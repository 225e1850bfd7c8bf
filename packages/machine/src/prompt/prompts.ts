import { PromptDigest } from "../thread/make-message.ts";
import type { Message } from "../thread/message.ts";
import type { ExpectedOutput } from "../thread/turn.ts";
import { type Thread, turnOf } from "../thread/thread.ts";
import { isAppended, toArray } from "../thread/chunks.ts";
import type { Blocks } from "./blocks.ts";
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
  render: (thread, cut, system, open, output) => {
    const blocks = blocksOf(partsOf(thread, system, open), cut, null);
    return promptFrom(grownBy(noPrompt(), blocks.messages, start), output);
  },
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
  const kept = new WeakMap<object, Kept>();
  return Object.freeze<Prompts>({
    render: (thread, cut, system, open, output) => {
      // The seed's list, even an empty one, is the same object throughout a thread.
      const before = kept.get(thread.seed);
      const shown = { thread, cut, system, open };
      const more = continued(before, shown);
      const blocks = more ?? blocksOf(partsOf(thread, system, open), cut, counts).messages;
      const end = before === undefined ? null : endOfPrefix(before.blocks, blocks, more !== null);
      // If reading a message throws, the kept prompt is incomplete.
      kept.delete(thread.seed);
      const grown = grownBy(before === undefined || end === null ? noPrompt() : before, blocks, end ?? start);
      kept.set(thread.seed, { ...grown, blocks, shown });
      return promptFrom(grown, output);
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
}

interface Kept extends Grown {
  readonly blocks: Blocks["messages"];
  readonly shown: Shown;
}

interface Shown {
  readonly thread: Thread;
  readonly cut: Cut;
  readonly system: Message | null;
  readonly open: readonly Message[];
}

/**
 * Returns the blocks of a prompt that adds only messages of the open turn, and at most one closed turn; null if more may
 * have changed. Finding all blocks again took a fifth of turn 1,000.
 */
const continued = (before: Kept | undefined, { thread, cut, system, open }: Shown): Blocks["messages"] | null => {
  if (before === undefined) return null;
  const { blocks, shown } = before;
  const isPlain = cut.shrink === undefined && cut.dropped === undefined && cut.fields === undefined;
  // A question may have been inserted into the block of the open turn.
  if (!isPlain || shown.cut !== cut || shown.system !== system || blocks[0] !== shown.open) return null;
  if (thread === shown.thread) return blocks.with(0, open);
  const last = isAppended(thread.turns, shown.thread.turns) ? turnOf(thread, thread.turns.length) : undefined;
  const isNext = last?.parent === shown.thread.head && thread.head === last.number && thread.pins === shown.thread.pins;
  if (!isNext || last.outcome.status !== "completed" || (cut.from?.turn ?? 0) >= last.number) return null;
  const said = toArray(last.messages);
  // Another branch may have closed another turn, which may need a question before it.
  return said[0] === undefined || said[0] !== shown.open[0] ? null : [open, said, ...blocks.slice(1)];
};

interface Place {
  readonly block: number;
  readonly message: number;
}

const start: Place = Object.freeze({ block: 0, message: 0 });

const promptFrom = (
  { messages, digest }: Grown,
  output: Parameters<Prompts["render"]>[4],
): ReturnType<Prompts["render"]> => ({ messages: messages.slice(), digest: digest.of(output) });

const noPrompt = (): Grown => ({ messages: [], digest: new PromptDigest() });

/** Adds the messages of the blocks, starting at a place. */
const grownBy = (grown: Grown, blocks: Blocks["messages"], from: Place): Grown => {
  let { message } = from;
  for (const messages of blocks.slice(0, blocks.length - from.block).reverse()) {
    // By index: frozen lists have slow iterators.
    for (let added = messages[message]; added !== undefined; added = messages[++message]) {
      grown.digest.add(added);
      grown.messages.push(added);
    }
    message = 0;
  }
  return grown;
};

/**
 * Returns where the messages of `prefix` end within `blocks`; null if the blocks do not begin with them.
 *
 * @param isContinued whether all blocks of the prefix but the newest are the first ones of `blocks`.
 */
const endOfPrefix = (prefix: Blocks["messages"], blocks: Blocks["messages"], isContinued: boolean): Place | null => {
  let block = isContinued ? prefix.length - 1 : 0;
  let message = 0;
  let messages = blocks[blocks.length - 1 - block];
  const goTo = (next: number): void => {
    block = next;
    message = 0;
    messages = blocks[blocks.length - 1 - block];
  };
  for (let index = prefix.length - 1 - block; index >= 0; index--) {
    const wanted = prefix[index] ?? [];
    // A prompt shows no message twice, so this is the beginning of the block.
    if (wanted === messages) {
      goTo(block + 1);
      continue;
    }
    for (let at = 0; at < wanted.length; at++) {
      if (wanted[at] !== messages?.[message]) return null;
      message += 1;
    }
    while (message === messages?.length) goTo(block + 1);
  }
  return { block, message };
};
