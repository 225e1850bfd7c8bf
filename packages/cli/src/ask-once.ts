import type { Content } from "@colloquy/machine";
import { named } from "@colloquy/cli/terminal";
import type { Answers } from "./answers.ts";
import type { Chat } from "./chat-host.ts";
import { type Asked, exitCodeOfEnd, followed, type TurnEnd } from "./turn.ts";

/** Asks, and shows the answer. Returns the exit code. */
export const askOnce = (chat: Chat, input: Content, answers: Answers, signal: AbortSignal): Promise<number> =>
  shown(chat, chat.ask(input, chat.threadId), answers, signal);

/** Shows the answer of an ask. Returns the exit code. */
export const shown = async (chat: Chat, asked: Asked, answers: Answers, signal: AbortSignal): Promise<number> => {
  const abort = (): void => asked.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    const end = await followed(chat, asked, answers.part);
    return await ended(chat, end, answers, signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
};

/** Shows the end of a turn. Returns the exit code. */
export const ended = async (chat: Chat, end: TurnEnd, answers: Answers, signal: AbortSignal): Promise<number> => {
  // After EPIPE, nobody reads the output.
  if (signal.reason !== "EPIPE") {
    const { host, threadId } = chat;
    const notes = end.status === "completed" ? await chat.notes?.(threadId, end.turn.turn) : undefined;
    await answers.end(end, { thread: host.thread(threadId), notes: notes ?? [], wayOut: wayOutOf(chat) });
  }
  return exitCodeOfEnd(end, signal);
};

const wayOutOf = ({ store }: Chat): string =>
  store === null
    ? "nothing is kept, so it can't be answered later: give --store"
    : `to answer, give the same options with --store ${named(store)} and --approve ID, or --deny ID, in place of a question`;
