import type { AskPart } from "@colloquy/host";
import type { Fields, GivenExchange } from "../program/fields.ts";

/** How a program is called. */
export interface CallOptions {
  /** Exchanges that are shown in place of what the thread remembers. */
  readonly history?: GivenHistory;
  /** The same id gives the same outcome, also after a restart. Default: drawn. */
  readonly askId?: string;
  readonly signal?: AbortSignal;
}

/**
 * `override`: the program runs on them, and nothing is recorded. `useIfProvided`: it runs on them, and the turn is recorded.
 * `replaceSession`: the conversation begins anew with them; when the call fails, it is as it was.
 */
export interface GivenHistory {
  readonly exchanges: readonly GivenExchange[];
  readonly as: "override" | "useIfProvided" | "replaceSession";
}

/** A call under way: awaiting it gives the outputs, or rejects with what the program threw; iterating it gives the parts. */
export interface CallHandle<Result extends object> extends PromiseLike<Result>, AsyncIterable<CallPart> {
  /** Null where no thread remembers the call. */
  readonly threadId: string | null;
  readonly askId: string;
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught>;
  finally(onSettled: () => void): Promise<Result>;
}

/** A piece of what happens to a call, in order. */
export type CallPart =
  | AskPart
  /** The program says how far it is. */
  | { readonly type: "status"; readonly text: string }
  /** The program shows outputs, as far as they are known. */
  | { readonly type: "partial"; readonly outputs: Fields }
  /** What happens to a call within the program. */
  | { readonly type: "nested"; readonly name: string; readonly threadId: string | null; readonly part: CallPart };
