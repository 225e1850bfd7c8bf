import { ThreadClosedError, ThreadUnknownError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { withLease } from "../delegation/requested-lease.ts";
import { fromStore } from "../ports/store-call.ts";
import type { Lease } from "../ports/store.ts";
import { inTurn, type ThreadRef } from "./thread-ref.ts";

/**
 * Deletes a thread. If it is open here, it is closed first. Returns false if there was none.
 *
 * @throws ThreadHeldError when another host holds it, LeaseLostError, StoreError
 */
export const deleteThread = async (thread: ThreadRef): Promise<boolean> => {
  const { id, host, loops } = thread;
  const remove = (): Promise<boolean> =>
    loops.alone(
      id,
      () => withLease(host, id, ({ lease }) => deleteWords(host, lease)),
      new ThreadClosedError(id, "deleted"),
    );
  // A thread that is only followed here is not closed needlessly.
  return inTurn(thread, remove, () => null).catch((error: unknown) => {
    if (error instanceof ThreadUnknownError) return remove();
    throw error;
  });
};

/** Deletes all words of a thread, here and in the store. @throws LeaseLostError, StoreError */
export const deleteWords = ({ logs, store }: HostContext, lease: Lease): Promise<boolean> => {
  const { threadId } = lease;
  logs.forget(threadId);
  return fromStore(threadId, "delete it", () => store.delete(threadId, lease));
};
