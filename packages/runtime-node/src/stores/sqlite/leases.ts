import { checkTtl, type Lease, LeaseLostError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

import { ProcessLock } from "../process-lock.ts";
import type { Commits } from "./commits.ts";
import { attempt, type Connection, query, refuseUnstorable, writingAnyway } from "./connection.ts";

export interface Leases extends Pick<Store, "acquire" | "renew" | "release" | "abandoned"> {
  /** Within a transaction: throws `LeaseLostError` if a lease is not in force. */
  readonly check: (lease: Lease) => void;
  /** Within a transaction: removes the lease of a thread. */
  readonly forget: (threadId: string) => void;
  /** Tells other processes that this store uses its leases no longer. */
  readonly close: () => void;
}

export const sqliteLeases = (connection: Connection, commits: Commits): Leases => {
  const { database, file, clock } = connection;
  const location = database.location();
  const lock = new ProcessLock(location === null ? null : `${location}-holder-`);
  const held = query<{ readonly owner: string; readonly expiresAt: number; readonly holder: string | null }>(
    database,
    "SELECT owner, expires_at AS expiresAt, holder FROM leases WHERE thread = ?",
  );
  const nextToken = database.prepare("UPDATE last_token SET token = token + 1 RETURNING token");
  const grant = database.prepare(
    "INSERT OR REPLACE INTO leases (thread, owner, token, expires_at, holder) VALUES (?, ?, ?, ?, ?)",
  );
  // The holder of a lease may append entries that the search index does not have.
  const unsearched = database.prepare("UPDATE threads SET unsearched = 1 WHERE thread = ? AND unsearched = 0");
  const renew = database.prepare("UPDATE leases SET expires_at = ? WHERE thread = ? AND token = ?");
  const release = database.prepare("DELETE FROM leases WHERE thread = ? AND token = ?");
  const inForce = database.prepare("SELECT 1 FROM leases WHERE thread = ? AND token = ? AND expires_at > ?");
  const forget = database.prepare("DELETE FROM leases WHERE thread = ?");
  const holders = query<{ readonly holder: string }>(
    database,
    "SELECT DISTINCT holder FROM leases WHERE expires_at > ? AND holder IS NOT NULL",
  );
  const abandoned = query<{ readonly thread: string }>(
    database,
    "SELECT thread FROM leases WHERE expires_at <= ? OR holder IN (SELECT value FROM json_each(?))",
  );
  return {
    acquire: async (threadId, owner, ttlMs) => {
      refuseUnstorable(connection, threadId);
      let lease: Lease | null = null;
      const take = (): void => {
        lease = null;
        const there = held.get(threadId);
        const isOthers = there !== undefined && there.owner !== owner && there.expiresAt > clock.now();
        if (isOthers && lock.isHeld(there.holder)) return;
        // The table always has one row.
        const { token } = nextToken.get() as { readonly token: number };
        grant.run(threadId, owner, token, expiry(connection, ttlMs), lock.name);
        unsearched.run(threadId);
        lease = { threadId, owner, token };
      };
      await commits.write(threadId, { alone: () => writingAnyway(connection, take), within: take });
      return lease;
    },
    renew: async ({ threadId, token }, ttlMs) =>
      attempt(connection, () => {
        file.check();
        return renew.run(expiry(connection, ttlMs), threadId, token).changes === 1;
      }),
    release: async ({ threadId, token }) =>
      commits.write(threadId, {
        alone: () => connection.reserve.makingRoom(() => attempt(connection, () => void release.run(threadId, token))),
        within: () => void release.run(threadId, token),
      }),
    abandoned: async () =>
      attempt(connection, () => {
        const now = clock.now();
        const dead = holders.all(now).flatMap(({ holder }) => (lock.isHeld(holder) ? [] : holder));
        return abandoned.all(now, JSON.stringify(dead)).map(({ thread }) => thread);
      }),
    check: (lease) => {
      if (inForce.get(lease.threadId, lease.token, clock.now()) === undefined) throw new LeaseLostError(lease);
    },
    forget: (threadId) => void forget.run(threadId),
    close: () => lock.close(),
  };
};

const expiry = ({ clock }: Connection, ttlMs: number): number => {
  checkTtl(ttlMs);
  return clock.now() + ttlMs;
};
