import { PromptDigest } from "../thread/digest.ts";
import type { Message } from "../thread/message.ts";
import type { ExpectedOutput } from "../thread/output.ts";
import type { Thread } from "../thread/thread.ts";
import { type Blocks, messagesIn } from "./blocks.ts";
import type { Counts } from "./counts.ts";
import type { Cut } from "./cut.ts";
import { blocksOf } from "./render.ts";

/** How the prompts of model calls are put together: each anew, or from what the call before it made. */
export interface Prompts {
  /** As `render`, with the digest of the prompt. */
  readonly render: (
    thread: Thread,
    cut: Cut,
    system: Message | null,
    open: readonly Message[],
    output: Omit<ExpectedOutput, "repairs"> | undefined,
  ) => { readonly messages: readonly Message[]; readonly digest: string };
}

/** Each prompt anew. */
export const promptsAnew: Prompts = Object.freeze<Prompts>({
  render: (thread, cut, system, open, output) => {
    const blocks = blocksOf(thread, cut, system, open, null);
    return { messages: messagesIn(blocks), digest: digestOfBlocks(new PromptDigest(), blocks, start).of(output) };
  },
});

/**
 * Prompts that grow. A thread's next prompt most often begins with the whole of the one before (law P9), so what was mixed
 * into its digest is kept, and only what is new is mixed; turns that lie together are compared, as they are shown, as one.
 * What remains for each call is one copy of the references. At turn 1,000 mixing all digests anew took a third of a call.
 *
 * One prompt is kept for each thread, for as long as the thread is. States that branched off one thread share it: then what
 * is kept is often of another branch, and a prompt costs what it would anew.
 */
export const grownPrompts = (counts: Counts): Prompts => {
  const kept = new WeakMap<object, Kept>();
  return Object.freeze<Prompts>({
    render: (thread, cut, system, open, output) => {
      const blocks = blocksOf(thread, cut, system, open, counts);
      // The list of the seed, also an empty one, is what stays the same as long as a thread is.
      const before = kept.get(thread.seed);
      const end = before === undefined ? null : endOfPrefix(before.messages, blocks.messages);
      // Where a message can't be read, what was begun is of no use.
      kept.delete(thread.seed);
      const digest = before === undefined || end === null ? new PromptDigest() : before.digest;
      digestOfBlocks(digest, blocks, end ?? start);
      kept.set(thread.seed, { messages: blocks.messages, digest });
      return { messages: messagesIn(blocks), digest: digest.of(output) };
    },
  });
};

interface Kept {
  readonly messages: Blocks["messages"];
  /** Of all of their messages. */
  readonly digest: PromptDigest;
}

/** Where something stands in blocks: so many blocks from the oldest, then so many messages. */
interface Place {
  readonly block: number;
  readonly message: number;
}

const start: Place = Object.freeze({ block: 0, message: 0 });

/** With the messages from a place on. */
const digestOfBlocks = (digest: PromptDigest, { messages: blocks }: Blocks, from: Place): PromptDigest => {
  let { message } = from;
  for (let block = from.block; block < blocks.length; block++, message = 0) {
    const messages = blocks[blocks.length - 1 - block] ?? [];
    // By index: lists are frozen, and their iterators are slow.
    for (; message < messages.length; message++) {
      const added = messages[message];
      if (added !== undefined) digest.add(added);
    }
  }
  return digest;
};

/** Where the messages of blocks end in those of others that begin with them; null where those begin otherwise. */
const endOfPrefix = (prefix: Blocks["messages"], blocks: Blocks["messages"]): Place | null => {
  let block = 0;
  let message = 0;
  let messages = blocks[blocks.length - 1];
  const goTo = (next: number): void => {
    block = next;
    message = 0;
    messages = blocks[blocks.length - 1 - block];
  };
  for (let index = prefix.length - 1; index >= 0; index--) {
    const wanted = prefix[index] ?? [];
    if (message === 0 && wanted === messages) {
      goTo(block + 1);
      continue;
    }
    for (let at = 0; at < wanted.length; at++) {
      while (message === messages?.length) goTo(block + 1);
      if (wanted[at] !== messages?.[message]) return null;
      message += 1;
    }
    while (message === messages?.length) goTo(block + 1);
  }
  return { block, message };
};
