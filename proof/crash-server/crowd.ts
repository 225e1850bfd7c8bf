import type { Store } from "@colloquy/host";

import { startWriter, type Writer } from "./writer.ts";

/** Writers at work: one for each store on a thread of its own, and one for each on a thread that they share. */
export interface Crowd {
  readonly writers: readonly Writer[];
  /** Waits until so many more entries are acknowledged. Rejects when a writer meets what it did not expect. */
  readonly acknowledged: (count: number) => Promise<void>;
  /** Rejects with what a writer did not expect. */
  readonly stop: () => Promise<void>;
}

export const startCrowd = (stores: readonly Store[]): Crowd => {
  let total = 0;
  let waiting: { readonly total: number; readonly resolve: () => void } | null = null;
  const onAcknowledged = (): void => {
    total += 1;
    if (waiting !== null && total >= waiting.total) waiting.resolve();
  };
  const writers = stores.flatMap((store, index) => [
    startWriter(store, `alone ${index}`, `loner ${index}`, onAcknowledged),
    startWriter(store, "shared", `sharer ${index}`, onAcknowledged),
  ]);
  return {
    writers,
    acknowledged: async (count) => {
      const enough = new Promise<void>((resolve) => {
        waiting = { total: total + count, resolve };
      });
      await Promise.race([enough, ...writers.map(({ running }) => running)]);
    },
    stop: async () => {
      await Promise.all(writers.map(({ stop }) => stop()));
    },
  };
};
