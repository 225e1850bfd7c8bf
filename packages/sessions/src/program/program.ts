import type { AskHandle, AskInput, AskOptions, OutputOf, OutputSchema, Tool, WrittenOf } from "@colloquy/host";
import type { SeedDraft, SystemDraft } from "@colloquy/machine";
import type { Memory } from "./memory.ts";

/** Makes outputs from inputs: a function, or an object with `forward`, such as an instance of a class. Both are called with copies. */
export type Program<Inputs extends object, Outputs extends object> =
  | ProgramFunction<Inputs, Outputs>
  | { readonly forward: ProgramFunction<Inputs, Outputs> };

export type ProgramFunction<Inputs extends object, Outputs extends object> = (
  inputs: Inputs,
  context: ProgramContext,
) => Outputs | PromiseLike<Outputs>;

/** What a program is given beside its inputs. */
export interface ProgramContext {
  readonly memory: Memory;
  /** Aborted when the outputs are no longer wanted. */
  readonly signal: AbortSignal;
  /** The thread that remembers this call; null where none does. */
  readonly threadId: string | null;
  /** The number of the turn that this call is; null where it is none. */
  readonly turn: number | null;
  /** Names this call: the same when it is made again after a crash. */
  readonly callId: string;
  /** Says how far it is, to whoever reads the parts of the call. */
  readonly status: (text: string) => void;
  /** Shows outputs, as far as they are known, to whoever reads the parts of the call. */
  readonly partial: (outputs: object) => void;
  /**
   * Calls a model, on a thread of its own that hangs from this turn; what it used counts as used by the turn, and its parts
   * are parts of the call. Its id is derived from this call, the name, the input and how often the same was asked before, so a
   * program that runs again after a crash gets the answers that were journalled, and calls no model twice. The session needs
   * the option `llm`.
   *
   * @param name of the call, for the trace.
   */
  readonly ask: <Schema extends OutputSchema = never>(
    name: string,
    input: AskInput,
    options?: NestedAskOptions<Schema>,
  ) => AskHandle<OutputOf<Schema>, WrittenOf<Schema>>;
}

/** How a model is called from within a program. */
export interface NestedAskOptions<Schema extends OutputSchema = never> extends Pick<
  AskOptions<Schema>,
  "model" | "limits" | "signal" | "metadata" | "toolContext" | "output"
> {
  readonly system?: SystemDraft;
  /** What the model reads before the input, such as the messages of a memory. */
  readonly seed?: readonly SeedDraft[];
  /** In place of the session's tools; the same list each time, as a host is made for it. */
  readonly tools?: readonly Tool[];
}

/** The function of a program. */
export const functionOf = <Inputs extends object, Outputs extends object>(
  program: Program<Inputs, Outputs>,
): ProgramFunction<Inputs, Outputs> =>
  typeof program === "function" ? program : (inputs, context) => program.forward(inputs, context);
