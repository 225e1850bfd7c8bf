import type { Ids } from "@colloquy/host";

/** Ids that count: `thread-1`, `ask-1`, `ask-2`, …; each kind by itself, so that a run gives the same ids again. */
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
