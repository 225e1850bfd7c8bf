import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { withRedactions } from "@colloquy/host/store";

/**
 * Decodes the stored journal of a thread. Redactions are applied again, in case a crash interrupted one.
 *
 * @throws Error for a thread that does not exist, or cannot be read.
 */
export const storedEntries = (threadId: string, stored: readonly unknown[]): readonly Entry[] => {
  if (stored.length === 0) throw new Error(`there is no thread "${threadId}"; \`colloquy threads\` lists them`);
  const decoded = decodeJournal(stored);
  if ("left" in decoded) throw new Error(`thread "${threadId}" can't be read: ${describeDecodeError(decoded.left)}`);
  return withRedactions(decoded.right);
};
