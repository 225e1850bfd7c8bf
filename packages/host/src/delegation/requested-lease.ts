import type { CancelRequested } from "@colloquy/machine";
import { ThreadClosedError, ThreadHeldError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { HeldLease } from "../journal/lease.ts";
import type { Envelope, Sender } from "../mailbox/mailbox.ts";
import type { LeaseLostError } from "../ports/store.ts";
import { idOf, requestOf } from "./inbox-items.ts";

/**
 * Calls `work` with the lease of a thread that is not open here.
 *
 * @throws ThreadHeldError when another host works on the thread, or does not answer; ThreadClosedError when this host is
 * closed meanwhile; StoreError; errors of `work`
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
    await held.end();
  }
};

/**
 * Requests the lease of a thread from the host that holds it, by an inbox item. A host with nothing to do there releases
 * the thread for any new item. A busy one refuses this item, which cancels an ask that nobody made.
 *
 * @param isWanted whether the lease is still wanted, by a caller that may end meanwhile.
 * @throws ThreadHeldError when the holder is busy, or does not answer; ThreadClosedError when this host is closed
 * meanwhile; StoreError
 */
export const requestLease = async (
  threadId: string,
  host: HostContext,
  onLost: (error: LeaseLostError) => void,
  isWanted: () => boolean = () => true,
): Promise<HeldLease> => {
  const { clock, closed, ids, observation, store } = host;
  const { inbox } = store;
  if (inbox === undefined) throw new ThreadHeldError(threadId);
  const id = ids.draw("item");
  await inbox.post(threadId, { id, event: requestOf(id, clock) });
  try {
    const until = clock.now() + msOfPolls(keptPolls, host);
    while (clock.now() < until && isWanted()) {
      await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + requestPollMsOf(host), resolve));
      if (closed.aborted) break;
      // Looked for before the lease is tried for: the thread may be released after the answer.
      const answer = await inbox.answerTo(threadId, id);
      const lease = await HeldLease.take(threadId, host, onLost);
      if (lease !== null) return lease;
      if (answer !== null) break;
    }
  } finally {
    await inbox.discard(threadId, id).catch((error: unknown) => observation.report(error, "store"));
  }
  throw closed.aborted ? new ThreadClosedError(threadId) : new ThreadHeldError(threadId);
};

/** Discards requests of hosts that are gone, unless another host has the lease: then that host answers them. */
export const dropRequests = async (
  host: HostContext,
  threadId: string,
  requests: readonly unknown[],
): Promise<void> => {
  const held = await HeldLease.take(threadId, host, () => {});
  if (held === null) return;
  try {
    for (const request of requests) await host.store.inbox?.discard(threadId, idOf(request) ?? "");
  } finally {
    await held.end();
  }
};

/** Returns how long so many polls of another host may take. Its `pollMs` is unknown; at least the usual is assumed. */
export const msOfPolls = (polls: number, { pollMs }: Pick<HostContext, "pollMs">): number =>
  polls * Math.max(pollMs, usualPollMs);

/** Returns how often the lease is tried for that was requested. A holder that hands it over leaves it free for some usual polls. */
export const requestPollMsOf = ({ pollMs }: Pick<HostContext, "pollMs">): number => Math.min(pollMs, usualPollMs);

export const usualPollMs = 200;

/** How many polls an answer is kept: a host that posted an item looks for it once a poll. */
export const keptPolls = 25;

/** An envelope that no inbox item can be, kept while the lease is requested for it. */
export class KeptEnvelope implements Sender {
  /** The id of the inbox item that has the request. */
  readonly id: string;
  readonly request: CancelRequested;
  readonly #envelope: Envelope;
  readonly #threadId: string;
  readonly #until: number;
  isOver = false;
  #isRefused = false;

  constructor(envelope: Envelope, threadId: string, host: HostContext) {
    const { clock, ids } = host;
    this.id = ids.draw("item");
    this.request = requestOf(this.id, clock);
    this.#envelope = envelope;
    this.#threadId = threadId;
    this.#until = clock.now() + msOfPolls(keptPolls, host);
  }

  /** Returns the envelope, for a loop that can handle it now. Returns none if it has failed. */
  take(): readonly Envelope[] {
    const taken = this.isOver ? [] : [this.#envelope];
    this.isOver = true;
    return taken;
  }

  /** Returns whether the holder refused the request, or did not answer in time. */
  isRefused(now: number): boolean {
    return !this.isOver && (this.#isRefused || now >= this.#until);
  }

  fail(): void {
    for (const { sender } of this.take()) sender?.failed(new ThreadHeldError(this.#threadId));
  }

  /** The holder may have released the lease since, so it fails only when the lease was tried for. */
  refused(): void {
    this.#isRefused = true;
  }

  accepted(): void {}

  failed(): void {}
}
