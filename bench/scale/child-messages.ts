import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Resolves with the next message of our process. @throws Error if it ends instead */
export const messageOf = async <Message>(child: ChildProcess): Promise<Message> => {
  const over = new AbortController();
  const died = once(child, "exit", over).then(([code]) => {
    throw new Error(`a process ended with ${String(code)} and said nothing`);
  });
  // Ignored: the process may end later.
  died.catch(() => undefined);
  try {
    // Cast: our own process sends nothing else.
    const [message] = (await Promise.race([once(child, "message", over), died])) as [Message];
    return message;
  } finally {
    over.abort();
  }
};
