import { StoreError, ThreadClosedError, ThreadUnknownError } from "../boundary/errors.ts";
import { withLease } from "../journal/lease.ts";
import { inTurn, type ThreadRef } from "./thread-ref.ts";

/**
 * Deletes a thread; one that is open here is closed first. False when there was none.
 *
 * @throws ThreadHeldError when another host holds it, StoreError
 */
export const deleteThread = async (thread: ThreadRef): Promise<boolean> => {
  const { id, host, loops } = thread;
  const remove = (): Promise<boolean> =>
    loops.alone(id, () => withLease(host, id, () => deleted(thread)), new ThreadClosedError(id, "deleted"));
  // One that is only followed here is not closed for nothing.
  return inTurn(thread, remove, () => null).catch((error: unknown) => {
    if (error instanceof ThreadUnknownError) return remove();
    throw error;
  });
};

const deleted = async ({ id, host }: ThreadRef): Promise<boolean> => {
  try {
    return await host.store.delete(id);
  } catch (thrown) {
    throw new StoreError(id, "delete it", thrown);
  }
};
