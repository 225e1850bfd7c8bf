import type { Lease, SnapshotDraft, StoredSnapshot } from "@colloquy/host/store";
import { type Database, ofThread, type Writing } from "./database.ts";
import type { Leases } from "./leases.ts";

/** Stores a snapshot, and deletes chunks that it no longer needs. */
export const saveSnapshot = (database: Database, leases: Leases, lease: Lease, draft: SnapshotDraft): Promise<void> =>
  database.write(["leases", "heads", "chunks"], async (writing) => {
    await leases.check(writing, lease);
    const chunks = writing.objectStore("chunks");
    for (const [id, text] of draft.chunks) await chunks.put(text, [lease.threadId, id]);
    for (const id of draft.dropped) await chunks.delete([lease.threadId, id]);
    await writing.objectStore("heads").put(draft.head, lease.threadId);
  });

/** Reads the newest snapshot with all of its chunks, in one transaction so that they are consistent. */
export const readSnapshot = (database: Database, threadId: string): Promise<StoredSnapshot | null> =>
  database.read(["heads", "chunks"], async (reading) => {
    const table = reading.objectStore("chunks");
    const [head, keys, texts] = await Promise.all([
      reading.objectStore("heads").get(threadId),
      table.getAllKeys(ofThread(threadId)),
      table.getAll(ofThread(threadId)),
    ]);
    if (head === undefined) return null;
    const chunks = new Map(keys.map(([, id], index) => [id, texts[index]]));
    return { head, chunk: (id) => chunks.get(id) };
  });

/** Deletes a snapshot, as part of a deletion or a `rewrite`. */
export const forgetSnapshot = async (writing: Writing, threadId: string): Promise<void> => {
  await writing.objectStore("heads").delete(threadId);
  await writing.objectStore("chunks").delete(ofThread(threadId));
};
