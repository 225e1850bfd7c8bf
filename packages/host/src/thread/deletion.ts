import type { Equipment } from "../context/host-context.ts";
import { StoreError, ThreadHeldError } from "../boundary/errors.ts";
import { HeldLease } from "../journal/lease.ts";

/**
 * Deletes a thread that nobody here has open. False when there was none.
 *
 * @throws ThreadHeldError when another host holds it, StoreError
 */
export const deleteThread = async (equipment: Equipment, threadId: string): Promise<boolean> => {
  const held = await HeldLease.take(threadId, equipment, () => {});
  if (held === null) throw new ThreadHeldError(threadId);
  try {
    return await equipment.store.delete(threadId);
  } catch (thrown) {
    throw new StoreError(threadId, "delete it", thrown);
  } finally {
    await held.release();
  }
};
