import { extended } from "./frozen.ts";
import type { Message } from "./message.ts";
import { sizeOf } from "./path.ts";
import type { Thread } from "./thread.ts";

/** Returns the size of the appended messages. */
export const sizeOfAppended = ({ appended, appendedCharacters = 0 }: Thread): ReturnType<typeof sizeOf> => ({
  messages: appended.length,
  characters: appendedCharacters,
});

/** Returns the thread with further appended messages. */
export const withAppended = (thread: Thread, messages: readonly Message[]): Thread => ({
  ...thread,
  appended: extended(thread.appended, messages),
  appendedCharacters: sizeOfAppended(thread).characters + sizeOf(messages).characters,
});

/** Returns the thread without appended messages, after they went into a turn. */
export const withoutAppended = (thread: Thread): Thread => {
  if (thread.appendedCharacters === undefined) return { ...thread, appended: [] };
  const { appendedCharacters: _, ...rest } = thread;
  return { ...rest, appended: [] };
};
