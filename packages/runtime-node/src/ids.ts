import { randomBytes } from "node:crypto";

import type { Ids } from "@colloquy/host";

/** Random ids (128 bits) that say what they name: `thread-…`, `ask-…`, `owner-…`. Short, since a journal repeats them. */
export const randomIds: Ids = {
  draw: (kind) => `${kind}-${randomBytes(16).toString("base64url")}`,
};
