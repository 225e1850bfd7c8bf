import type { LlmHandler, Store, Tool } from "@colloquy/host";
import { checkOptions as checkKinds, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import type { HostOptions } from "@colloquy/runtime-node";
import type { GivenExchange } from "../program/exchange.ts";
import { fieldsNamedBy, type Signature } from "../program/program.ts";
import type { SessionTurn } from "../turns/turns.ts";
import {
  compose,
  keepAll,
  lastTurns,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
} from "@colloquy/machine/policies";

export interface SessionOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> {
  /** The name of the program: its threads are named after it, and its turns contain it. */
  readonly name: string;
  /** The version of the program. Default "1". */
  readonly version?: string;
  /** The schemas of inputs and outputs, which check and type both. Default: any fields. */
  readonly signature?: Signature<Given, Inputs, Outputs, Result>;
  /** Default: in memory, until the process ends; within another program, that program's store. */
  readonly store?: Store;
  /** The thread of calls without a user. Default: the name. */
  readonly threadId?: string;
  /** Exchanges at the beginning of each thread. A reset keeps them. They count as the oldest turn. */
  readonly seed?: readonly GivenExchange[];
  /** The number of newest exchanges that a program sees; 0 shows none. Default: all, with `compression` 20. */
  readonly maxTurns?: number;
  /**
   * The number of newest turns that are visible at all. It is only a view: no turn is deleted, and turn numbers stay.
   * Default: all.
   */
  readonly maxStoredTurns?: number;
  /** Fields that no memory shows; overrides `onlyInputFields`. */
  readonly excludeFields?: readonly string[] | ReadonlySet<string>;
  /** The only fields of earlier inputs that memory shows. */
  readonly onlyInputFields?: readonly string[] | ReadonlySet<string>;
  /** Summarises earlier turns, with `summariser`, otherwise with `llm`. Default: they are shown unchanged. */
  readonly compression?: "concise" | "verbose" | { readonly instruction: string };
  readonly summariser?: Summariser;
  /**
   * Describes the outputs; memory and summaries use the text in place of the outputs. It does not receive the memory.
   */
  describe?(inputs: Inputs, outputs: Result): string;
  /** The handling of a call while another one is running on the thread. Default `queue`. */
  readonly overlap?: "queue" | "reject";
  /**
   * The memory of the session when another program calls it. `persistent`: all calls under the thread of that program.
   * `episodic`: the calls within one call of that program; the result of `consolidate` opens the next episode.
   * `shared`: no own memory; it sees that program's memory. `stateless`: none. Default `persistent`.
   */
  readonly lifespan?: "persistent" | "episodic" | "shared" | "stateless";
  /**
   * Returns the memory to keep of an episode when it ends. `pastMemory` is the memory kept of earlier episodes, or "".
   */
  consolidate?(pastMemory: string, transcript: readonly SessionTurn<Inputs, Result>[]): string | Promise<string>;
  /** Called when a turn has completed; its call waits for it. An error is reported, and fails no call. */
  onTurn?(turn: SessionTurn<Inputs, Result>): unknown;
  /** The model for the program's nested calls, and for summaries if there is no `summariser`. */
  readonly llm?: LlmHandler;
  /** The tools of the nested model calls. */
  readonly tools?: readonly Tool[];
  /** More options of the session's hosts. Default: those of the calling program's hosts. */
  readonly host?: Omit<
    HostOptions,
    "llm" | "machine" | "store" | "tools" | "system" | "thread" | "hooks" | "defaultThread"
  >;
}

/** Writes the summary of a turn for memory. If it throws, it is called once more; then a line made by rule is used. */
export type Summariser = (turn: {
  /** The content of the turn, after the earlier summaries. */
  readonly text: string;
  /** The instruction for the summary: our concise or verbose one, or the given one. */
  readonly instruction: string;
  readonly signal: AbortSignal;
}) => string | Promise<string>;

/** The options of any session, untyped; the signature checks inputs and outputs. */
export type AnyOptions = SessionOptions<never, never, object, object>;

/**
 * @throws ConfigurationError for options that are missing, unknown or invalid; host options are checked when the hosts
 * are made
 */
export const checkOptions = (options: AnyOptions): void => {
  checkKinds("session", options, optionKinds);
  const problem = problemIn(options);
  if (problem !== null) throw new ConfigurationError(problem);
};

const problemIn = (options: AnyOptions): string | null => {
  const { compression, summariser, llm, lifespan = "persistent" } = options;
  for (const option of ["excludeFields", "onlyInputFields"] as const) {
    const stray = strayField(options, [...(options[option] ?? [])]);
    if (stray !== null) return `session: ${option} names ${stray}`;
  }
  if (compression !== undefined && summariser === undefined && llm === undefined)
    return "session: compression has turns summarised, and nothing is there to do it; give llm, or a summariser of your own";
  if (options.consolidate !== undefined && lifespan !== "episodic")
    return `session: consolidate is for episodes, and the lifespan is "${lifespan}"; make it "episodic", or leave consolidate out`;
  return null;
};

/**
 * Returns a field that is missing in the signature, if the signature lists its fields. Memory would still show a
 * misspelt field.
 */
const strayField = ({ signature }: AnyOptions, names: readonly string[]): string | null => {
  const inputs = fieldsNamedBy(signature?.inputs);
  const outputs = fieldsNamedBy(signature?.outputs);
  if (inputs === null || outputs === null) return null;
  const known = [...new Set([...inputs, ...outputs])];
  const stray = names.find((name) => !known.includes(name));
  return stray === undefined ? null : `"${stray}", and the signature has no such field; it has ${known.join(", ")}`;
};

/** The host options that the session sets itself. */
const ownHostOptions = ["llm", "machine", "store", "tools", "system", "thread", "hooks", "defaultThread"];

const optionKinds: OptionKinds<AnyOptions> = {
  name: kinds.needed(kinds.text),
  version: kinds.text,
  signature: kinds.of("{ inputs, outputs }, each a Standard Schema", (value) =>
    [Reflect.get(Object(value), "inputs"), Reflect.get(Object(value), "outputs")].every(kinds.schema.fits),
  ),
  store: kinds.store,
  threadId: kinds.text,
  seed: kinds.listOf("{ inputs, outputs }, both objects", (each) =>
    ["inputs", "outputs"].every((name) => kinds.object.fits(Reflect.get(Object(each), name))),
  ),
  maxTurns: kinds.whole(0),
  maxStoredTurns: kinds.whole(0),
  excludeFields: kinds.names,
  onlyInputFields: kinds.names,
  compression: kinds.word(
    '"concise", "verbose" or { instruction }',
    (value) => value === "concise" || value === "verbose" || kinds.text.fits(Reflect.get(Object(value), "instruction")),
  ),
  summariser: kinds.call,
  describe: kinds.call,
  overlap: kinds.oneOf("queue", "reject"),
  lifespan: kinds.oneOf("persistent", "episodic", "shared", "stateless"),
  consolidate: kinds.call,
  onTurn: kinds.call,
  llm: kinds.call,
  tools: kinds.tools,
  host: kinds.of(
    `an object of options of createHost, without ${ownHostOptions.join(", ")}`,
    (value) =>
      kinds.object.fits(value) && ownHostOptions.every((name) => Reflect.get(Object(value), name) === undefined),
  ),
};

/** Returns the policy of a session's prompts, which also determines its memory. */
export const policyOf = (options: AnyOptions): Policy => {
  const { excludeFields, onlyInputFields } = options;
  return compose(
    ...(excludeFields === undefined ? [] : [omitFields([...excludeFields])]),
    ...(onlyInputFields === undefined ? [] : [onlyInputs([...onlyInputFields])]),
    windowOf(options),
  );
};

/** Returns the number of newest exchanges that a memory shows. */
export const mostShown = ({ maxTurns, maxStoredTurns }: AnyOptions): number =>
  Math.min(maxTurns ?? Number.POSITIVE_INFINITY, maxStoredTurns ?? Number.POSITIVE_INFINITY);

const windowOf = (options: AnyOptions): Policy => {
  const { compression } = options;
  const most = mostShown(options);
  const shown = Number.isFinite(most) ? most : null;
  if (compression === undefined) return shown === null ? keepAll() : lastTurns(shown);
  return summariseTurns({
    ...(shown === null ? {} : { maxTurns: shown }),
    ...(typeof compression === "string" ? { level: compression } : { instruction: compression.instruction }),
  });
};
