import type { Ids } from "@colloquy/host";

/** Random ids (128 bits) with their kind: `thread-…`, `ask-…`, `owner-…`. Short, because a journal repeats them. */
export const randomIds: Ids = {
  draw: (kind) => `${kind}-${base64url(crypto.getRandomValues(new Uint8Array(16)))}`,
};

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
