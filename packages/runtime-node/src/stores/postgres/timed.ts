import type { Connection } from "./connection.ts";

/** A connection, and the time that leases are judged by; null: the server's. */
export interface Timed extends Connection {
  readonly now: () => number | null;
}
