import { extended } from "./frozen.ts";
import type { Message } from "./message.ts";
import { sizeOf } from "./path.ts";
import type { Thread } from "./thread.ts";

/** Returns the size of the appended messages. */
export const sizeOfAppended = ({ appended, appendedCharacters }: Thread): ReturnType<typeof sizeOf> =>
  appendedCharacters === undefined ? sizeOf(appended) : { messages: appended.length, characters: appendedCharacters };

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

/**
 * Returns the thread with the measured size of its appended messages. A version that does not know that field may have
 * appended since.
 */
export const withAppendedMeasured = (thread: Thread): Thread => {
  const rest = withoutAppended(thread);
  return thread.appended.length === 0 ? rest : withAppended(rest, thread.appended);
};
