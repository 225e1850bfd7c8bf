import { randomBytes } from "node:crypto";

import type { Ids } from "@colloquy/host";

/**
 * Random ids of 128 bits with the kind of thing they name: `thread-…`, `ask-…`, `owner-…`. They are short, since a
 * journal repeats them.
 */
export const randomIds: Ids = {
  draw: (kind) => `${kind}-${nextBytes()}`,
};

/** Random bytes drawn in advance: a call for a few bytes costs as much as one for many. */
let pool = Buffer.alloc(0);
let used = 0;

const nextBytes = (): string => {
  if (used + bytesEach > pool.length) {
    pool = randomBytes(256 * bytesEach);
    used = 0;
  }
  used += bytesEach;
  return pool.toString("base64url", used - bytesEach, used);
};

const bytesEach = 16;
