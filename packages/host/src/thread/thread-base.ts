import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { CodeWaits } from "../activity/code-waits.ts";
import type { HostContext } from "../context/host-context.ts";
import { EventRefusedError, ThreadClosedError } from "../boundary/errors.ts";
import type { Loops } from "./loops.ts";
import { type OptionNames, problemOfOptions } from "../boundary/option-names.ts";
import type { Ids } from "../ports/ids.ts";
import type { Envelope } from "../mailbox/mailbox.ts";
import { type Extent, lookAt, seenIn } from "../journal/opening.ts";
import { raiseFor } from "../mailbox/raise-format.ts";
import { givenEvent } from "../boundary/given-event.ts";

/** What became of an event. */
export type Receipt =
  | { readonly handled: true; readonly entry: Entry }
  | { readonly handled: false; readonly refusal: Refusal };

/** What a handle on a thread is made of: telling its loop something, and looking at its state. */
export class ThreadBase {
  readonly id: string;
  protected readonly host: HostContext;
  protected readonly ids: Ids;
  protected readonly loops: Loops;

  constructor(id: string, host: HostContext, ids: Ids, loops: Loops) {
    this.id = id;
    this.host = host;
    this.ids = ids;
    this.loops = loops;
  }

  /** Tells the machine anything but `thread.redacted`, which is more than an event: `redact` does that. A refusal is returned, not thrown. */
  async send(event: Event): Promise<Receipt> {
    const told = givenEvent(event);
    if (Either.isRight(told) && told.right.type === "thread.redacted") return { handled: false, refusal: notHere };
    return Either.isLeft(told) ? { handled: false, refusal: told.left } : this.post({ event: told.right });
  }

  /** @throws EventRefusedError for options that can't be meant */
  protected checkOptions<Options extends object>(of: string, options: Options, names: OptionNames<Options>): void {
    const reason = problemOfOptions(of, options, names);
    if (reason !== null) throw new EventRefusedError(this.id, { kind: "invalid", reason });
  }

  /** The time of what is told now. */
  protected now(): number {
    return this.host.clock.now();
  }

  protected async tell(event: Event): Promise<void> {
    const receipt = await this.send(event);
    if (!receipt.handled) throw new EventRefusedError(this.id, receipt.refusal);
  }

  protected post(envelope: Pick<Envelope, "aim"> & { readonly event: Event | ThreadStarted }): Promise<Receipt> {
    const waits = new CodeWaits(this.host.active);
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    // Before it is posted, since it may be done at once.
    waits.begin();
    const settle = (settled: () => void): void => {
      waits.end();
      settled();
    };
    waits.post(() => {
      const loop = this.loops.use(this.id);
      if (loop === null) {
        settle(() => reject(new ThreadClosedError(this.id)));
        return null;
      }
      const raised = raiseFor(this.host.machine, envelope.event);
      if (raised !== null) loop.post(raised);
      loop.post({
        ...envelope,
        sender: {
          accepted: (entry) => settle(() => resolve({ handled: true, entry })),
          refused: (refusal) => settle(() => resolve({ handled: false, refusal })),
          failed: (error) => settle(() => reject(error)),
        },
      });
      return loop;
    });
    return promise;
  }

  /** What is seen of the present state, by something pure that may be done again; null when there is no such thread. Takes no lease. */
  protected async look<Seen>(see: (state: State) => Seen, extent: Extent = "some"): Promise<Seen | null> {
    const loop = this.loops.opened(this.id);
    const state = loop?.state ?? null;
    const reader = loop?.reader ?? null;
    if (state === null || reader === null) return lookAt(this.host, this.id, see, extent);
    return seenIn(this.host, { state, reader }, see, extent);
  }
}

const notHere: Refusal = {
  kind: "invalid",
  reason: 'told as an event, "thread.redacted" takes nothing out of the store; call redact of the thread',
};
