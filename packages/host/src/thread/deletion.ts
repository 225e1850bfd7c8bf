import { StoreError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { withLease } from "../journal/lease.ts";

/**
 * Deletes a thread that nobody here has open. False when there was none.
 *
 * @throws ThreadHeldError when another host holds it, StoreError
 */
export const deleteThread = (host: HostContext, threadId: string): Promise<boolean> =>
  withLease(host, threadId, async () => {
    try {
      return await host.store.delete(threadId);
    } catch (thrown) {
      throw new StoreError(threadId, "delete it", thrown);
    }
  });
