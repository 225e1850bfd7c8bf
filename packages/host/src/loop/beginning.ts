import { type Event, start, type Started, type State, type ThreadStarted } from "@colloquy/machine";
import { ThreadUnknownError } from "../boundary/errors.ts";
import { givenStart } from "../boundary/given-event.ts";
import type { RunContext } from "../context/host-context.ts";
import type { Mailbox } from "../mailbox/mailbox.ts";
import type { LeasedThread } from "./leased-thread.ts";

/**
 * Starts a new thread: the given start, or the defaults, become its first entry.
 *
 * @param begun takes over the state, before it is reported.
 * @throws ThreadUnknownError when no event in the mailbox creates a thread; SeedError, EventRefusedError, and errors of
 * the append
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
  await leased.held.append([entry]);
  begun(state);
  if (explicit !== null && mailbox.first === first) {
    mailbox.take();
    sent?.sender?.accepted(entry);
  }
  host.observation.entry(entry, threadId, { before: null, after: state });
};

/** Starts a thread explicitly, or else with the defaults. @throws SeedError, EventRefusedError */
export const started = (
  { machine, threadDefaults }: RunContext,
  threadId: string,
  explicit: ThreadStarted | null,
  at: number,
): Started => {
  if (explicit === null) return start(machine, { ...threadDefaults, threadId, at });
  const { type: _, ...input } = givenStart(explicit);
  return start(machine, input);
};

/** Returns whether an event creates a thread. An ask after a turn does not, since there is no turn. */
export const makesThread = (event: Event | ThreadStarted): boolean =>
  event.type === "ask.received" ? (event.from ?? 0) === 0 : making.has(event.type);

const making: ReadonlySet<string> = new Set(["message.appended", "round.appended", "system.changed", "turn.added"]);
