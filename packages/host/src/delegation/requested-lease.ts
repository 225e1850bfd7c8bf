import type { CancelRequested } from "@colloquy/machine";
import { ThreadHeldError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { HeldLease } from "../journal/lease.ts";
import type { Envelope, Sender } from "../mailbox/mailbox.ts";
import { fromStore } from "../ports/store-call.ts";
import type { LeaseLostError } from "../ports/store.ts";
import { requestOf } from "./inbox-items.ts";
import { keptPolls } from "./inbox.ts";

/**
 * Calls `work` with the lease of a thread that is not open here.
 *
 * @throws ThreadHeldError when another host works on the thread, or does not answer; StoreError; errors of `work`
 */
export const withLease = async <Done>(
  host: HostContext,
  threadId: string,
  work: (held: HeldLease) => Promise<Done>,
): Promise<Done> => {
  const onLost = (): void => {};
  const held = (await HeldLease.take(threadId, host, onLost)) ?? (await requestLease(threadId, host, onLost));
  try {
    return await work(held);
  } finally {
    await held.release();
  }
};

/**
 * Requests the lease of a thread from the host that holds it, by an inbox item. A host with nothing to do there releases
 * the thread for any new item. A busy one refuses this item, which cancels an ask that nobody made.
 *
 * @param isWanted whether the lease is still wanted, by a caller that may end meanwhile.
 * @throws ThreadHeldError when the holder is busy, or does not answer; StoreError
 */
export const requestLease = async (
  threadId: string,
  host: HostContext,
  onLost: (error: LeaseLostError) => void,
  isWanted: () => boolean = () => true,
): Promise<HeldLease> => {
  const { clock, ids, pollMs, observation, store } = host;
  const { inbox } = store;
  if (inbox === undefined) throw new ThreadHeldError(threadId);
  const id = ids.draw("item");
  await fromStore(threadId, "leave an inbox item", () => inbox.post(threadId, { id, event: requestOf(id, clock) }));
  try {
    for (let polls = 0; polls < keptPolls && isWanted(); polls++) {
      await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + pollMs, resolve));
      // Looked for before the lease is tried for: the thread may be released after the answer.
      const answer = await fromStore(threadId, "look for an answer", () => inbox.answerTo(threadId, id));
      const lease = await HeldLease.take(threadId, host, onLost);
      if (lease !== null) return lease;
      if (answer !== null) break;
    }
  } finally {
    await fromStore(threadId, "discard an inbox item", () => inbox.discard(threadId, id)).catch((error: unknown) =>
      observation.report(error, "store"),
    );
  }
  throw new ThreadHeldError(threadId);
};

/**
 * An envelope that cannot be an inbox item, kept while the lease is requested for it. It is the sender of that request,
 * and fails when the holder refuses it.
 */
export class KeptEnvelope implements Sender {
  readonly request: CancelRequested;
  readonly #envelope: Envelope;
  readonly #threadId: string;
  readonly #until: number;
  #isOver = false;

  constructor(envelope: Envelope, threadId: string, { clock, ids, pollMs }: HostContext) {
    this.request = requestOf(ids.draw("item"), clock);
    this.#envelope = envelope;
    this.#threadId = threadId;
    this.#until = clock.now() + keptPolls * pollMs;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the envelope, for a loop that can handle it now. Returns none if it has failed. */
  take(): readonly Envelope[] {
    const taken = this.#isOver ? [] : [this.#envelope];
    this.#isOver = true;
    return taken;
  }

  /** Fails if the holder has not answered in time. */
  check(now: number): void {
    if (now >= this.#until) this.refused();
  }

  refused(): void {
    for (const { sender } of this.take()) sender?.failed(new ThreadHeldError(this.#threadId));
  }

  accepted(): void {}

  failed(): void {}
}
