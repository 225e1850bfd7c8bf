import { ImportRefusedError } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { z } from "zod";

/** A session as plain JSON: all that its thread says, in the order in which it came about. The program is not in it. */
export interface SavedSession {
  readonly format: "colloquy.session";
  readonly version: 1;
  readonly journal: readonly Entry[];
}

/** What `save` gives of a journal. */
export const savedSession = (journal: readonly Entry[]): SavedSession =>
  Object.freeze({ format: "colloquy.session", version: 1, journal });

/**
 * The entries of a saved session, not read yet.
 *
 * @param threadId the thread that they are to be, for what is refused
 * @throws ImportRefusedError where it is none, or one of another version
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
