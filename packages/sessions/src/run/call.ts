import type { AskOptions } from "@colloquy/host";
import { kinds, type OptionKinds } from "@colloquy/host/store";
import type { GivenExchange } from "../program/exchange.ts";
import type { CallPart } from "../program/program.ts";

export interface CallOptions extends Pick<AskOptions, "metadata"> {
  /** Exchanges from the caller, in addition to or in place of the thread's memory. */
  readonly history?: GivenHistory;
  /**
   * Repeated calls with the same id give the same outcome, even after a restart. Default: drawn; within another
   * program, derived from its call.
   */
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
 * `override`: the program sees only these, and nothing is recorded. `useIfProvided`: it sees only these, and the turn
 * is recorded with them. `replaceSession`: the conversation begins again with them; if the call fails, the conversation
 * is unchanged.
 */
export interface GivenHistory {
  readonly exchanges: readonly GivenExchange[];
  readonly as: "override" | "useIfProvided" | "replaceSession";
}

/**
 * A running call. Awaiting it returns a copy of the outputs. It rejects with the program's error, with `SignatureError`
 * for values that do not match the signature, or as an ask of the thread does. A call that is never awaited causes no
 * unhandled rejection.
 *
 * Iterating it yields the parts from the beginning, even if the reading starts late. Beyond some 1,000 parts, the
 * oldest are dropped. The parts end with `turn.ended` if a thread records the call.
 */
export interface CallHandle<Result extends object> extends PromiseLike<Result>, AsyncIterable<CallPart> {
  /** The thread that records the call; null if none does. */
  readonly threadId: string | null;
  readonly askId: string;
  /** Cancels the call, or withdraws it if it is still queued. */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught>;
  finally(onSettled: () => void): Promise<Result>;
}
