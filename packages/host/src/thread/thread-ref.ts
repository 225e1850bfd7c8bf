import { ConfigurationError, type Entry, type Event, type Refusal, start, type State } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError, ThreadClosedError } from "../boundary/errors.ts";
import { type Given, givenEvent, givenStart } from "../boundary/given-event.ts";
import { type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { withLease } from "../delegation/requested-lease.ts";
import type { HeldLease } from "../journal/lease.ts";
import { type HostContext, type ThreadDefaults, threadDefaultKinds } from "../context/host-context.ts";
import { type Extent, lookAt, seenIn } from "../journal/opening.ts";
import type { ThreadLoop } from "../loop/loop.ts";
import type { EventEnvelope, MadeEnvelope } from "../mailbox/mailbox.ts";
import type { Ids } from "../ports/ids.ts";

export interface ThreadRef {
  readonly id: string;
  readonly host: HostContext;
  readonly loops: Loops;
}

/** The loops of a host, one for each thread that is in use here. */
export interface Loops {
  /** Returns the loop of a thread, opened if need be; null when the host was closed. */
  use(threadId: string): ThreadLoop | null;
  opened(threadId: string): ThreadLoop | undefined;
  /**
   * Releases a thread, and then calls `work` on it undisturbed: its next use waits. Asks that are open there fail with
   * `why`.
   */
  alone<Done>(threadId: string, work: () => Promise<Done>, why?: ThreadClosedError): Promise<Done>;
  /**
   * Stores the journal of a thread that does not exist yet, all of it or nothing. Rejects with `ThreadExistsError`,
   * `ThreadHeldError`.
   */
  store(threadId: string, entries: readonly Entry[]): Promise<void>;
}

/** The outcome of an event. */
export type Receipt =
  | { readonly handled: true; readonly entry: Entry }
  | { readonly handled: false; readonly refusal: Refusal };

/** Returns the id that a caller gave a thread; for `"new"`, a generated one. @throws ConfigurationError */
export const threadIdOf = (given: string, ids: Ids): string => {
  const id = given === "new" ? ids.draw("thread") : given;
  // Callers in JavaScript may pass any value.
  if (typeof id === "string" && id !== "") return id;
  throw new ConfigurationError(
    `a thread's id is ${JSON.stringify(id)}; it must be a text that is not empty, or "new", which draws one`,
  );
};

export const startThread = async (thread: ThreadRef, input: ThreadDefaults): Promise<void> => {
  checkOptions(thread, "start", input, threadDefaultKinds);
  const { machine, store, clock } = thread.host;
  const event = givenStart({ ...input, type: "thread.started", threadId: thread.id, at: clock.now() });
  // An engine would only refuse a seed that is not a conversation; this throws.
  if (store.engine !== undefined) start(machine, event);
  const receipt = await deliver(thread, { event });
  if (!receipt.handled) throw new EventRefusedError(thread.id, receipt.refusal);
};

/** Sends an event from outside to the machine. A refusal is returned, not thrown. */
export const send = async (thread: ThreadRef, given: Event): Promise<Receipt> => {
  const event = givenEvent<Event>(given);
  if (Either.isLeft(event)) return { handled: false, refusal: event.left };
  return event.right.type === "thread.redacted"
    ? { handled: false, refusal: redactedElsewhere }
    : deliver(thread, { event: event.right });
};

/** An event as the methods of a handle make it: its time is added, and a member that is undefined is left out. */
type Undated<Each extends Event> = Each extends Event ? Given<Omit<Each, "at">> : never;

/** Sends an event with the present time. @throws EventRefusedError when it is refused */
export const submit = async (thread: ThreadRef, { type, ...members }: Undated<Event>): Promise<void> => {
  // The members are those of an event of that type. `send` validates it.
  const receipt = await send(thread, { type, at: thread.host.clock.now(), ...members } as Event);
  if (!receipt.handled) throw new EventRefusedError(thread.id, receipt.refusal);
};

/** Puts an event into the mailbox of a thread, and waits for its outcome. */
export const deliver = (
  { id, loops }: ThreadRef,
  sent: Pick<EventEnvelope, "event"> | Pick<MadeEnvelope, "make">,
): Promise<Receipt> => {
  const { promise, resolve, reject: failed } = Promise.withResolvers<Receipt>();
  const accepted = (entry: Entry): void => resolve({ handled: true, entry });
  const refused = (refusal: Refusal): void => resolve({ handled: false, refusal });
  const loop = loops.use(id);
  if (loop === null) failed(new ThreadClosedError(id));
  else loop.post({ ...sent, sender: { accepted, refused, failed } });
  return promise;
};

/** Calls `work` with the lease of a thread that is closed here first. Asks that are open there fail with `why`. */
export const closedHere = <Done>(
  { id, host, loops }: ThreadRef,
  work: (held: HeldLease) => Promise<Done>,
  why?: ThreadClosedError,
): Promise<Done> => loops.alone(id, () => withLease(host, id, work), why);

/**
 * Calls `work` on a thread that is not open here. If it is open, calls it when its turn in the mailbox comes, unless
 * there is a reason not to.
 *
 * @throws EventRefusedError for that reason; errors of `work`
 */
export const inTurn = async <Done>(
  { id, loops }: ThreadRef,
  work: () => Promise<Done>,
  whyNot: (state: State, hasMore: boolean) => Refusal | null = () => null,
): Promise<Done> => {
  const loop = loops.opened(id);
  if (loop === undefined) return work();
  return loop.run(async (state) => {
    const refusal = whyNot(state, loop.hasMore);
    if (refusal !== null) throw new EventRefusedError(id, refusal);
    // At once, so that nothing comes between.
    return work();
  });
};

/** Returns a pure function's view of the state; null when there is no thread. Takes no lease. */
export const look = async <Seen>(
  { id, host, loops }: ThreadRef,
  see: (state: State) => Seen,
  extent: Extent = "some",
): Promise<Seen | null> => {
  const loop = currentLoop({ id, host, loops });
  const state = loop?.state ?? null;
  const reader = loop?.reader ?? null;
  if (state === null || reader === null) return lookAt(host, id, see, extent);
  return seenIn(host, { state, reader }, see, extent);
};

/** Returns the loop of a thread that is open here, if its state is current: not if its lease ran out. */
export const currentLoop = ({ id, loops }: ThreadRef): ThreadLoop | undefined => {
  const loop = loops.opened(id);
  return loop?.ranOut === true ? undefined : loop;
};

/** Checks the options of a method. @throws EventRefusedError for invalid ones */
export const checkOptions = <Options extends object>(
  { id }: ThreadRef,
  of: string,
  options: Options,
  names: OptionKinds<Options>,
): void => {
  const reason = problemOfOptions(of, options, names);
  if (reason !== null) throw new EventRefusedError(id, { kind: "invalid", reason });
};

const redactedElsewhere: Refusal = {
  kind: "invalid",
  reason: 'sent as an event, "thread.redacted" takes nothing out of the store; call redact of the thread',
};
