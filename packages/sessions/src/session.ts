import { type HostedThread, TurnFailedError } from "@colloquy/host";
import { randomIds } from "@colloquy/runtime-node";
import type { CallHandle, CallOptions } from "./call/call.ts";
import { type Asked, PendingCall } from "./call/pending-call.ts";
import { type AnyOptions, type SessionCore, sessionCore } from "./core/core.ts";
import type { SessionOptions } from "./core/options.ts";
import { fieldsOf, partsOf } from "./program/fields.ts";
import type { Program } from "./program/program.ts";
import { type Records, recordsOf } from "./records.ts";
import { journalIn } from "./saved/saved-session.ts";
import { type Signature, validated } from "./program/signature.ts";
import { type SessionTurn, sessionTurns } from "./thread/turns.ts";

/** A program with turns: what one of its threads remembers. */
export interface Session<Given extends object, Inputs extends object, Result extends object> extends Records<
  Inputs,
  Result
> {
  readonly thread: HostedThread;
  /** Calls the program, and records the turn. */
  call(inputs: Given, options?: CallOptions): CallHandle<Result>;
  /** The same program, on the thread of a user. */
  user(id: string): Session<Given, Inputs, Result>;
  /** The recorded calls, oldest first. */
  turns(): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /**
   * A session on a thread that `save` gave, or `fromDspySession`: as it was, and it goes on from there.
   *
   * @param options `threadId` is the id of the new thread. Default: the one that it had.
   * @throws ImportRefusedError for what is no saved session, one of another version or one that is damaged; nothing is
   *   stored. ThreadExistsError where there is such a thread already.
   */
  load(saved: unknown, options?: { readonly threadId?: string }): Promise<Session<Given, Inputs, Result>>;
  close(): Promise<void>;
}

/**
 * Gives a program turns. It is the model of its own thread: so each call is journalled, queued, cancelled, resumed and
 * forked as any ask is.
 */
export function session<Inputs extends object, Outputs extends object>(
  program: Program<Inputs, Outputs>,
  options: SessionOptions<Inputs, Inputs, Outputs, Outputs> & { readonly signature?: undefined },
): Session<Inputs, Inputs, Outputs>;
export function session<Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  program: Program<NoInfer<Inputs>, NoInfer<Outputs>>,
  options: SessionOptions<Given, Inputs, Outputs, Result> & {
    readonly signature: Signature<Given, Inputs, Outputs, Result>;
  },
): Session<Given, Inputs, Result>;
export function session(program: Program<never, object>, given: object): Session<object, object, object> {
  // As the overloads have it; what goes in and out is checked by the signature.
  const options = given as AnyOptions;
  const core = sessionCore(program, options);
  return boundTo(core, core.host.thread(options.threadId ?? options.name));
}

const boundTo = (core: SessionCore, thread: HostedThread): Session<object, object, object> => ({
  thread,
  call: (inputs, options) => call(core, thread, inputs, options),
  user: (id) => boundTo(core, core.host.thread(`${core.options.name}:${id}`)),
  turns: async () => sessionTurns(await thread.state()),
  ...recordsOf(core, thread),
  load: async (saved, options) => boundTo(core, await core.host.importJournal(journalIn(saved), options)),
  close: () => core.host.close(),
});

const call = (
  core: SessionCore,
  thread: HostedThread,
  inputs: object,
  { history: _, ...options }: CallOptions = {},
): CallHandle<object> => {
  const { name, signature } = core.options;
  const askId = options.askId ?? randomIds.draw("ask");
  const asked = (async (): Promise<Asked> => {
    const fields = await validated(`the inputs of "${name}"`, signature?.inputs, inputs);
    const handle = thread.ask(partsOf(fields), { ...options, askId });
    // A handle may be awaited, so a promise would become its result.
    return { handle };
  })();
  const result = (async () => {
    const { handle } = await asked;
    try {
      const { messages } = await handle;
      return structuredClone(fieldsOf(messages.findLast(({ role }) => role === "assistant")));
    } catch (thrown) {
      const failed = thrown instanceof TurnFailedError ? `${thread.id}/${thrown.summary.turn}` : "";
      if (!core.failures.has(failed)) throw thrown;
      const own = core.failures.get(failed);
      core.failures.delete(failed);
      throw own;
    }
  })();
  return new PendingCall(thread.id, askId, asked, result);
};
