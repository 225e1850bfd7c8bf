import type { Lease, SnapshotDraft, StoredSnapshot } from "@colloquy/host/store";
import { type Database, ofThread, type Writing } from "./database.ts";
import type { Leases } from "./leases.ts";

/** Keeps a snapshot, and drops the chunks that it needs no more. */
export const saveSnapshot = (database: Database, leases: Leases, lease: Lease, draft: SnapshotDraft): Promise<void> =>
  database.write(["leases", "heads", "chunks"], async (writing) => {
    await leases.check(writing, lease);
    const chunks = writing.objectStore("chunks");
    for (const [id, text] of draft.chunks) await chunks.put(text, [lease.threadId, id]);
    for (const id of draft.dropped) await chunks.delete([lease.threadId, id]);
    await writing.objectStore("heads").put(draft.head, lease.threadId);
  });

/** The newest snapshot, with all of its chunks: one transaction reads them as they belong together. */
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

/** As part of a deletion, or of a `rewrite`. */
export const forgetSnapshot = async (writing: Writing, threadId: string): Promise<void> => {
  await writing.objectStore("heads").delete(threadId);
  await writing.objectStore("chunks").delete(ofThread(threadId));
};
