export interface Peer {
  readonly turn: (text: string) => Promise<void>;
  /** Closes it. Returns the number of stored bytes. */
  readonly close: () => Promise<number>;
}

/** Opens a peer that keeps its thread in a file, or in memory if that is all that it offers. */
export type OpenPeer = (path: string) => Promise<Peer>;
