import { LeaseLostError, SequenceConflictError, StoreError } from "../boundary/errors.ts";

/** What whoever waits for an append is told: the store's own refusals as they are, anything else as its failure. */
export const appendError = (threadId: string, thrown: unknown): Error =>
  thrown instanceof LeaseLostError || thrown instanceof SequenceConflictError
    ? thrown
    : new StoreError(threadId, "append an entry", thrown);
