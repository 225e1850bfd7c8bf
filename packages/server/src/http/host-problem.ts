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

/** What a host threw, as a client is to read it; null for what is no answer to a client. Never 409, at which clients send a POST again. */
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
  // Its message may name what is of no concern to a client.
  if (thrown instanceof StoreError)
    return new HttpError(503, "the store failed; ask again", { code: "store_failed", headers: again });
  return thrown instanceof ConfigurationError ? new HttpError(400, thrown.message) : null;
};
