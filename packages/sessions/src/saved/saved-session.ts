import { ImportRefusedError } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { z } from "zod";

/** A session as plain JSON: the whole journal of its thread, in order. It does not contain the program. */
export interface SavedSession {
  readonly format: "colloquy.session";
  readonly version: 1;
  readonly journal: readonly Entry[];
}

/** Wraps a journal as a saved session. */
export const savedSession = (journal: readonly Entry[]): SavedSession =>
  Object.freeze({ format: "colloquy.session", version: 1, journal });

/**
 * Returns the entries of a saved session, not yet decoded.
 *
 * @param threadId the id of the new thread, for errors
 * @throws ImportRefusedError if it is not a saved session, or has another version
 */
export const journalIn = (saved: unknown, threadId = "new"): readonly unknown[] => {
  const refused = (problem: string): ImportRefusedError => new ImportRefusedError(threadId, null, problem);
  const session = envelope.safeParse(saved);
  if (session.data?.format !== "colloquy.session") {
    const isDspy = Array.isArray(session.data?.["turns"]);
    const hint = isDspy ? "; fromDspySession reads those of dspy-session" : "";
    throw refused(`it is no saved session, whose "format" is "colloquy.session"${hint}`);
  }
  const { version, journal } = session.data;
  if (version !== 1)
    throw refused(`version ${JSON.stringify(version)} of a saved session can't be read; version 1 can`);
  if (!Array.isArray(journal)) throw refused("the saved session has no list of entries as its journal");
  return journal;
};

const envelope = z.looseObject({
  format: z.unknown().optional(),
  version: z.unknown().optional(),
  journal: z.unknown().optional(),
});
