/** What a store needs of a `Pool` of the package `pg`. */
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
  /** What it was made with: messages say the address, and no more. */
  readonly options?: object;
}

export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}
