import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { withRedactions } from "@colloquy/host/store";

/**
 * The journal of a thread as a store has it. Also where a crash came between, what was to be redacted is not in it any more.
 *
 * @throws Error for a thread that is not there, or can't be read.
 */
export const storedEntries = (threadId: string, stored: readonly unknown[]): readonly Entry[] => {
  if (stored.length === 0) throw new Error(`there is no thread "${threadId}"; \`colloquy threads\` lists them`);
  const decoded = decodeJournal(stored);
  if ("left" in decoded) throw new Error(`thread "${threadId}" can't be read: ${describeDecodeError(decoded.left)}`);
  return withRedactions(decoded.right);
};
