import { type Event, start, type Started, type State, type ThreadStarted } from "@colloquy/machine";
import { ThreadUnknownError } from "../boundary/errors.ts";
import { givenStart } from "../boundary/given-event.ts";
import type { RunContext } from "../context/host-context.ts";
import type { Mailbox } from "../mailbox/mailbox.ts";
import type { LeasedThread } from "./leased-thread.ts";

/**
 * Begins a new thread: what it was started with, or the defaults, are its first entry.
 *
 * @param begun takes over the state, before it is reported.
 * @throws ThreadUnknownError when nothing in the mailbox makes a thread; SeedError, EventRefusedError, and what appending throws
 */
export const begin = async (
  { threadId, host }: { readonly threadId: string; readonly host: RunContext },
  leased: LeasedThread,
  mailbox: Mailbox,
  begun: (state: State) => void,
): Promise<void> => {
  const { first } = mailbox;
  const sent = first !== undefined && "event" in first ? first : null;
  const explicit = sent?.event.type === "thread.started" ? sent.event : null;
  if (explicit === null && !mailbox.some((envelope) => "event" in envelope && makesThread(envelope.event)))
    throw new ThreadUnknownError(threadId);
  const { state, entry } = started(host, threadId, explicit, host.clock.now());
  await leased.append([entry]);
  begun(state);
  if (explicit !== null && mailbox.first === first) {
    mailbox.take();
    sent?.sender?.accepted(entry);
  }
  host.observation.entry(entry, threadId, { before: null, after: state });
};

/** A thread as it was started, or else with the defaults. @throws SeedError, EventRefusedError */
export const started = (
  { machine, threadDefaults }: RunContext,
  threadId: string,
  explicit: ThreadStarted | null,
  at: number,
): Started => {
  const { type: _, ...input } = givenStart(explicit ?? { ...threadDefaults, type: "thread.started", threadId, at });
  return start(machine, input);
};

/** Whether an event means something to a thread that is not there yet. An ask behind a turn does not: no turn is there. */
export const makesThread = (event: Event | ThreadStarted): boolean =>
  event.type === "ask.received" ? (event.from ?? 0) === 0 : making.has(event.type);

const making: ReadonlySet<string> = new Set(["message.appended", "round.appended", "system.changed", "turn.added"]);
