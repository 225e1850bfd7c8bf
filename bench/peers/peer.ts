/** A conversation of a peer, on a thread of its own. */
export interface Peer {
  readonly turn: (text: string) => Promise<void>;
  /** Gives how many bytes it had stored. */
  readonly close: () => Promise<number>;
}

/** Opens one that keeps its thread in a file, or in memory where that is what it brings. */
export type OpenPeer = (path: string) => Promise<Peer>;
