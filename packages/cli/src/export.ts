import {
  decodeJournal,
  describeDecodeError,
  type Entry,
  fold,
  type Loss,
  type Message,
  messagesOf,
  toChatMessages,
  toModelMessages,
  toResponseItems,
  toUiMessages,
} from "@colloquy/machine";
import { withRedactions } from "@colloquy/host";
import type { CommandSetting } from "./command.ts";
import { withStore } from "./kept-threads.ts";
import { asCommand } from "./library-advice.ts";

/** From where, and as what. */
export interface ExportOptions {
  readonly store?: string | undefined;
  readonly as?: string | undefined;
}

/**
 * Writes a thread: as its journal, without loss, or as the messages of another format. What that can't carry is told on
 * the error output. Gives the exit code, 0.
 *
 * @throws Error for a thread or a format that there is not.
 */
export const exportThread = (
  ids: readonly string[],
  { store: path, as = "journal" }: ExportOptions,
  { output, error }: Pick<CommandSetting, "output" | "error">,
): Promise<number> =>
  withStore(path, async (store) => {
    const [threadId, ...more] = ids;
    if (threadId === undefined || more.length > 0) throw new Error(`export takes one thread; ${ids.length} are named`);
    const stored = await store.read(threadId);
    if (stored.length === 0) throw new Error(`there is no thread "${threadId}"; \`colloquy threads\` lists them`);
    const entries = entriesIn(threadId, stored);
    if (as === "journal") {
      for (const entry of entries) output.write(`${JSON.stringify(entry)}\n`);
      return 0;
    }
    const write = formats[as];
    if (write === undefined)
      throw new Error(`--as is "${as}"; it must be one of: journal, ${Object.keys(formats).join(", ")}`);
    const { value, losses } = write(messagesIn(threadId, entries));
    output.write(`${JSON.stringify(value, null, 2)}\n`);
    for (const { index, path: where, what, why } of losses)
      error.write(`not carried: message ${index}${where === "" ? "" : `, ${where}`}: ${what}: ${asCommand(why)}\n`);
    return 0;
  });

const formats: Readonly<
  Record<string, (messages: readonly Message[]) => { readonly value: unknown; readonly losses: readonly Loss[] }>
> = {
  chat: (messages) => toChatMessages(messages),
  responses: (messages) => toResponseItems(messages),
  model: (messages) => toModelMessages(messages),
  ui: (messages) => toUiMessages(messages),
};

/** Also where a crash came between, what was to be redacted is not told any more. */
const entriesIn = (threadId: string, stored: readonly unknown[]): readonly Entry[] => {
  const decoded = decodeJournal(stored);
  if ("left" in decoded) throw new Error(`thread "${threadId}" can't be read: ${describeDecodeError(decoded.left)}`);
  return withRedactions(decoded.right);
};

/** The path, led by the system message. */
const messagesIn = (threadId: string, entries: readonly Entry[]): readonly Message[] => {
  const folded = fold(entries);
  if ("left" in folded)
    throw new Error(`thread "${threadId}" can't be read: entry ${folded.left.seq}: ${folded.left.reason}`);
  const { system } = folded.right.context.conversation;
  return system === null ? messagesOf(folded.right) : [system, ...messagesOf(folded.right)];
};
