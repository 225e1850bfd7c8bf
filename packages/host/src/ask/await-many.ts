import type { AskHandle } from "./ask-handle.ts";
import type { AskResult } from "./result.ts";

/** The outcome of one of several asks. `error` is what awaiting the ask rejects with. */
export type AskOutcome =
  | { readonly type: "result"; readonly threadId: string; readonly askId: string; readonly result: AskResult }
  | { readonly type: "error"; readonly threadId: string; readonly askId: string; readonly error: unknown };

/**
 * Waits for several asks, of any threads. Returns their outcomes in the order of the asks, whichever ends first. A
 * failed ask hides none of the others. Never rejects.
 */
export const awaitMany = (handles: Iterable<AskHandle>): Promise<readonly AskOutcome[]> =>
  Promise.all([...handles].map(outcomeOf));

const outcomeOf = async (handle: AskHandle): Promise<AskOutcome> => {
  const { threadId, askId } = handle;
  try {
    return { type: "result", threadId, askId, result: await handle };
  } catch (error) {
    return { type: "error", threadId, askId, error };
  }
};
