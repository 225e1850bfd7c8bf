import type { AskOptions } from "@colloquy/host";
import { kinds, type OptionKinds } from "@colloquy/host/store";
import type { GivenExchange } from "../program/exchange.ts";
import type { CallPart } from "../program/parts.ts";

/** How a program is called. */
export interface CallOptions extends Pick<AskOptions, "metadata"> {
  /** Exchanges that the caller gives, beside or in place of what the thread remembers. */
  readonly history?: GivenHistory;
  /** The same id gives the same outcome, however often it is called, also after a restart. Default: drawn; within another program, derived from its call. */
  readonly askId?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

export const callOptionKinds: OptionKinds<CallOptions> = {
  history: kinds.object,
  askId: kinds.text,
  signal: kinds.signal,
  metadata: kinds.object,
};

export const historyKinds: OptionKinds<GivenHistory> = {
  exchanges: kinds.needed(kinds.list),
  as: kinds.needed(kinds.oneOf("override", "useIfProvided", "replaceSession")),
};

/**
 * `override`: the program sees just these, and nothing is recorded. `useIfProvided`: it sees just these, and the turn is
 * recorded with them. `replaceSession`: the conversation begins anew with them; where the call fails, it is as it was.
 */
export interface GivenHistory {
  readonly exchanges: readonly GivenExchange[];
  readonly as: "override" | "useIfProvided" | "replaceSession";
}

/**
 * A call that is under way. Awaiting it gives the outputs, a copy for the caller; or rejects with what the program threw, with
 * `SignatureError` for what does not fit, or as an ask of the thread does. One that is never awaited causes no unhandled
 * rejection.
 *
 * Iterating it gives the parts from the beginning, also when the reading starts late; of more than some 1,000, the oldest
 * are let go. They end with `turn.ended` where a thread remembers the call.
 */
export interface CallHandle<Result extends object> extends PromiseLike<Result>, AsyncIterable<CallPart> {
  /** The thread that remembers the call; null where none does. */
  readonly threadId: string | null;
  readonly askId: string;
  /** Cancels the call, or withdraws it where it still waits. */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught>;
  finally(onSettled: () => void): Promise<Result>;
}
