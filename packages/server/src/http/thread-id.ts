import type { Call } from "./route.ts";

/**
 * Whether the caller may use a thread that its request names. Threads of subagents and sessions have a `/` in their ids: they
 * are not reached by name, whatever `mayUse` says of them. "new" would draw an id.
 */
export const mayReach = async (call: Call, threadId: string): Promise<boolean> =>
  isThreadId(threadId) && (await call.mayUse(threadId));

/** Whether a request can name a thread of this id. */
export const isThreadId = (text: string): boolean => text !== "new" && /^[A-Za-z0-9_-]{1,128}$/u.test(text);
