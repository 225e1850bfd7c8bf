import {
  EventRefusedError,
  ImportRefusedError,
  StoreError,
  ThreadClosedError,
  ThreadHeldError,
  ThreadUnknownError,
} from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { HttpError } from "../http/http-error.ts";

/** What a host threw, as a client is to read it. What is no answer to a client stays as it is, and is a 500 without words. */
export const problemOfHost = (thrown: unknown): unknown => {
  if (thrown instanceof ThreadUnknownError) return new HttpError(404, thrown.message, { code: "not_found" });
  if (thrown instanceof EventRefusedError || thrown instanceof ImportRefusedError) {
    const kind = thrown instanceof EventRefusedError ? thrown.refusal.kind : "invalid";
    if (kind === "full")
      return new HttpError(429, thrown.message, { code: "queue_full", headers: { "retry-after": "1" } });
    return new HttpError(400, thrown.message, { code: kind });
  }
  if (thrown instanceof ThreadHeldError || thrown instanceof ThreadClosedError)
    return new HttpError(503, thrown.message, { code: "thread_unavailable", headers: { "retry-after": "1" } });
  if (thrown instanceof StoreError) return new HttpError(503, "the store failed; ask again", { code: "store_failed" });
  if (thrown instanceof ConfigurationError) return new HttpError(400, thrown.message);
  return thrown;
};
