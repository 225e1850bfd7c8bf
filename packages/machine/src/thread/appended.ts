import { extended } from "./frozen.ts";
import type { Message } from "./message.ts";
import { sizeOf } from "./path.ts";
import type { Thread } from "./thread.ts";

/** How much is appended. */
export const sizeOfAppended = ({ appended, appendedCharacters }: Thread): ReturnType<typeof sizeOf> =>
  appendedCharacters === undefined ? sizeOf(appended) : { messages: appended.length, characters: appendedCharacters };

/** The thread with more appended. */
export const withAppended = (thread: Thread, messages: readonly Message[]): Thread => ({
  ...thread,
  appended: extended(thread.appended, messages),
  appendedCharacters: sizeOfAppended(thread).characters + sizeOf(messages).characters,
});

/** The thread with nothing appended: it went into a turn. */
export const withoutAppended = (thread: Thread): Thread => {
  if (thread.appendedCharacters === undefined) return { ...thread, appended: [] };
  const { appendedCharacters: _, ...rest } = thread;
  return { ...rest, appended: [] };
};

/** The thread with the length that folding gives: a version that does not know of it may have appended since. */
export const withAppendedMeasured = (thread: Thread): Thread => {
  const rest = withoutAppended(thread);
  return thread.appended.length === 0 ? rest : withAppended(rest, thread.appended);
};
