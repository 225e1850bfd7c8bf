import {
  EventRefusedError,
  ImportRefusedError,
  StoreError,
  ThreadClosedError,
  ThreadExistsError,
  ThreadHeldError,
  ThreadUnknownError,
} from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { HttpError } from "./http-error.ts";

/**
 * Converts a host's error into a client error; returns null if it is no concern of the client. Never uses 409, since
 * clients repeat a POST after it.
 */
export const problemOfHost = (thrown: unknown): HttpError | null => {
  const again = { "retry-after": "1" };
  if (thrown instanceof ThreadUnknownError) return new HttpError(404, thrown.message, { code: "not_found" });
  if (thrown instanceof EventRefusedError) {
    const { kind, reason } = thrown.refusal;
    return kind === "full"
      ? new HttpError(429, reason, { code: "queue_full", headers: again })
      : new HttpError(400, reason, { code: kind });
  }
  if (thrown instanceof ImportRefusedError || thrown instanceof ThreadExistsError)
    return new HttpError(400, thrown.message, { code: "invalid" });
  if (thrown instanceof ThreadHeldError || thrown instanceof ThreadClosedError)
    return new HttpError(503, thrown.message, { code: "thread_unavailable", headers: again });
  // The message may name details that a client should not see.
  if (thrown instanceof StoreError)
    return new HttpError(503, "the store failed; ask again", { code: "store_failed", headers: again });
  return thrown instanceof ConfigurationError ? new HttpError(400, thrown.message) : null;
};
