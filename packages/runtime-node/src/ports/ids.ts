import { randomBytes } from "node:crypto";

import type { Ids } from "@colloquy/host";

/** Random ids (128 bits) that say what they name: `thread-…`, `ask-…`, `owner-…`. Short, since a journal repeats them. */
export const randomIds: Ids = {
  draw: (kind) => `${kind}-${nextBytes()}`,
};

/** Drawn ahead: a call for so few bytes costs as much as one for many. */
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
