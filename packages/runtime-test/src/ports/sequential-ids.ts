import type { Ids } from "@colloquy/host";

/**
 * Makes numbered ids: `thread-1`, `ask-1`, `ask-2`, …, numbered separately for each kind. A repeated run gives the same
 * ids.
 */
export const sequentialIds = (): Ids => {
  const drawn = new Map<string, number>();
  return {
    draw: (kind) => {
      const number = (drawn.get(kind) ?? 0) + 1;
      drawn.set(kind, number);
      return `${kind}-${number}`;
    },
  };
};
