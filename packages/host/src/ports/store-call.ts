import { StoreError } from "../boundary/errors.ts";
import { LeaseLostError, SequenceConflictError } from "./store.ts";

/**
 * Calls the store and returns its answer. Errors for a lost lease or a conflict are thrown unchanged, any other as a
 * `StoreError` that names the failed task.
 */
export const fromStore = async <Answer>(
  threadId: string,
  doing: string,
  call: () => Promise<Answer>,
): Promise<Answer> => {
  try {
    return await call();
  } catch (thrown) {
    throw storeErrorOf(threadId, doing, thrown);
  }
};

/** Returns the error to throw for an error of such a call. */
export const storeErrorOf = (threadId: string, doing: string, thrown: unknown): Error =>
  thrown instanceof LeaseLostError || thrown instanceof SequenceConflictError
    ? thrown
    : new StoreError(threadId, doing, thrown);
