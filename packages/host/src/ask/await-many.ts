import type { AskHandle } from "./ask-handle.ts";
import type { AskResult } from "./result.ts";

/** What became of one of several asks. `error` is what awaiting it rejects with. */
export type AskOutcome =
  | { readonly type: "result"; readonly threadId: string; readonly askId: string; readonly result: AskResult }
  | { readonly type: "error"; readonly threadId: string; readonly askId: string; readonly error: unknown };

/**
 * Waits for several asks, of whatever threads. Their outcomes stand in the order in which the asks are given, whichever
 * ends first; one that fails hides none of the others. Never rejects.
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
