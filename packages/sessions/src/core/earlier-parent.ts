import { ConfigurationError, type JsonObject, type State } from "@colloquy/machine";

/** The beginning of a session's thread that does not exist yet. */
export interface Beginning {
  /** The creation time of the parent thread; null if there is no parent. */
  readonly parentCreatedAt: number | null;
  /** Returns the system prompt and the metadata of the new thread. */
  readonly beginning: () => Promise<{ readonly system?: string; readonly metadata: JsonObject }>;
}

/**
 * Refuses a nested thread whose parent was deleted and replaced by a thread with the same id. Its content does not
 * belong to the new parent, and may be another user's.
 *
 * @param parentCreatedAt the creation time of the parent; null if there is no parent.
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
