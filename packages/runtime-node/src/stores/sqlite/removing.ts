import type { Store } from "@colloquy/host";

import { isFull, notRewritten } from "../reserve.ts";
import { type Lease, noSuchEntry } from "@colloquy/host/store";
import type { Commits } from "./commits.ts";
import { type Connection, refuseUnstorable, writing } from "./connection.ts";
import type { Eraser } from "./erasing.ts";
import type { SqliteInbox } from "./inbox.ts";
import type { Journals } from "./journals.ts";
import type { Leases } from "./leases.ts";
import type { SqliteParts } from "./parts.ts";
import { seqsPerThread } from "./schema.ts";
import type { SearchIndex } from "./search-index.ts";
import type { Snapshots } from "./snapshots.ts";

/** The stores that hold data of threads, over one connection. */
export interface PartsOfThreads {
  readonly connection: Connection;
  readonly commits: Commits;
  readonly leases: Leases;
  readonly journals: Journals;
  readonly snapshots: Snapshots;
  readonly inbox: SqliteInbox;
  readonly parts: SqliteParts;
  readonly index: SearchIndex;
  readonly eraser: Eraser;
}

/** Removes text from the file, of some entries or of a whole thread, even if the disk is full. */
export const sqliteRemoving = (threads: PartsOfThreads): Pick<Store, "rewrite" | "delete"> => {
  const { connection, leases, journals, snapshots, inbox, parts, index, eraser } = threads;
  const { reserve } = connection;
  /** Overwrites all data of a thread, or only the row that names it. Returns whether the thread existed. */
  const forget = (threadId: string, lease: Lease | undefined, isWhole: boolean): boolean =>
    writing(connection, () => {
      if (lease !== undefined) leases.check(lease);
      const thread = journals.numberOf(threadId);
      leases.forget(threadId);
      const hadParts = parts.forget(threadId);
      if (inbox.forget(threadId) || hadParts || thread !== undefined) eraser.owe();
      if (thread === undefined) return false;
      if (!isWhole) {
        eraser.leave(thread);
        return true;
      }
      index.forget(thread * seqsPerThread, (thread + 1) * seqsPerThread - 1);
      snapshots.forget(thread);
      journals.forget(thread);
      return true;
    });
  return {
    rewrite: async (lease, entries) => {
      const replace = (): void =>
        writing(connection, () => {
          leases.check(lease);
          const [first] = entries;
          if (first === undefined) return;
          const thread = journals.numberOf(lease.threadId);
          if (thread === undefined) throw noSuchEntry(lease.threadId, first.seq);
          journals.replace(lease.threadId, thread, entries);
          index.replace(thread, entries);
          snapshots.forget(thread);
          parts.forget(lease.threadId);
          eraser.owe();
        });
      try {
        reserve.makingRoom(replace);
      } catch (error) {
        throw notRewritten(error, lease.threadId, () => "several times as much as the entries and the snapshot have");
      }
      eraser.erase(`${entries.length} entries of thread "${lease.threadId}" are rewritten`);
    },
    delete: async (threadId, lease) => {
      refuseUnstorable(connection, threadId);
      const wasThere = reserve.makingRoom(() => {
        try {
          return forget(threadId, lease, true);
        } catch (error) {
          if (!isFull(error)) throw error;
          return forget(threadId, lease, false);
        }
      });
      eraser.erase(`thread "${threadId}" is deleted`);
      return wasThere;
    },
  };
};
