import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The next message of a process of ours. @throws Error where it ends instead */
export const messageOf = async <Message>(child: ChildProcess): Promise<Message> => {
  const over = new AbortController();
  const died = once(child, "exit", over).then(([code]) => {
    throw new Error(`a process ended with ${String(code)} and said nothing`);
  });
  // That it ends later is as it should be.
  died.catch(() => undefined);
  try {
    // Our own process, which says nothing else.
    const [message] = (await Promise.race([once(child, "message", over), died])) as [Message];
    return message;
  } finally {
    over.abort();
  }
};
