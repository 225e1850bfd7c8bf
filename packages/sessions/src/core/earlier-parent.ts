import { ConfigurationError, type JsonObject, type State } from "@colloquy/machine";

/** How a thread of a session begins, where it is not there yet. */
export interface Beginning {
  /** When the thread began from which it hangs; null where it hangs from none. */
  readonly parentCreatedAt: number | null;
  /** What it begins with. */
  readonly beginning: () => Promise<{ readonly system?: string; readonly metadata: JsonObject }>;
}

/**
 * Refuses a nested thread that was left by an earlier thread of its parent's id, which was deleted: what was said there is
 * no answer to this one, and may be another user's.
 *
 * @param parentCreatedAt when the parent began; null where it hangs from no thread.
 * @throws ConfigurationError
 */
export const refuseEarlierParent = (nested: State | null, parentCreatedAt: number | null): void => {
  const { threadId = "", metadata = {} } = nested?.context ?? {};
  const { parentThread, parentCreatedAt: kept } = metadata;
  if (parentCreatedAt === null || typeof kept !== "number" || kept === parentCreatedAt) return;
  throw new ConfigurationError(
    `thread "${threadId}" was left by an earlier thread ${JSON.stringify(parentThread)}, which was deleted: delete it, too, or use another id for the new one`,
  );
};
