/** The parts of a `pg` `Pool` that a store uses. */
export interface PostgresPool {
  query(query: {
    name?: string;
    text: string;
    values?: unknown[];
    query_timeout?: number;
  }): Promise<{ rows: unknown[] }>;
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  listenerCount(event: "error"): number;
  end(): Promise<void>;
  /** The pool's options, of which messages show only the address. */
  readonly options?: object;
}

export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}
