import { StoreError } from "../boundary/errors.ts";
import type { Equipment } from "../context/host-context.ts";
import { withLease } from "../journal/lease.ts";

/**
 * Deletes a thread that nobody here has open. False when there was none.
 *
 * @throws ThreadHeldError when another host holds it, StoreError
 */
export const deleteThread = (equipment: Equipment, threadId: string): Promise<boolean> =>
  withLease(equipment, threadId, async () => {
    try {
      return await equipment.store.delete(threadId);
    } catch (thrown) {
      throw new StoreError(threadId, "delete it", thrown);
    }
  });
