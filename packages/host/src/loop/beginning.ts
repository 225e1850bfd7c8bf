import { start, type State } from "@colloquy/machine";
import { ThreadUnknownError } from "../boundary/errors.ts";
import { givenStart } from "../boundary/given-event.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Mailbox } from "../mailbox/mailbox.ts";
import type { LeasedThread } from "./leased-thread.ts";

/**
 * Begins a new thread: what it was started with, or the defaults, are its first entry.
 *
 * @param begun takes over the state, before it is reported.
 * @throws ThreadUnknownError when nothing in the mailbox makes a thread; SeedError, EventRefusedError, and what appending throws
 */
export const begin = async (
  { threadId, host }: { readonly threadId: string; readonly host: HostContext },
  leased: LeasedThread,
  mailbox: Mailbox,
  begun: (state: State) => void,
): Promise<void> => {
  const { machine, clock, threadDefaults, observation } = host;
  const { first } = mailbox;
  const sent = first !== undefined && "event" in first ? first : null;
  const explicit = sent?.event.type === "thread.started" ? sent.event : null;
  if (explicit === null && !mailbox.some((envelope) => "event" in envelope && makesThread.has(envelope.event.type)))
    throw new ThreadUnknownError(threadId);
  const given = explicit ?? { ...threadDefaults, type: "thread.started", threadId, at: clock.now() };
  const { type: _, ...input } = givenStart(given);
  const { state, entry } = start(machine, input);
  await leased.append(entry);
  begun(state);
  if (explicit !== null && mailbox.first === first) {
    mailbox.take();
    sent?.sender?.accepted(entry);
  }
  observation.entry(entry, threadId);
};

/** Events that mean something to a thread that is not there yet. */
const makesThread: ReadonlySet<string> = new Set([
  "ask.received",
  "message.appended",
  "round.appended",
  "system.changed",
  "turn.added",
]);
