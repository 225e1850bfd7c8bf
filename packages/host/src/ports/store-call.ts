import { StoreError } from "../boundary/errors.ts";
import { LeaseLostError, SequenceConflictError } from "./store.ts";

/** What a call of the store gives. Its own refusals are thrown as they are, anything else as a `StoreError` that says what it failed to do. */
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

/** The error of such a call. */
export const storeErrorOf = (threadId: string, doing: string, thrown: unknown): Error =>
  thrown instanceof LeaseLostError || thrown instanceof SequenceConflictError
    ? thrown
    : new StoreError(threadId, doing, thrown);
