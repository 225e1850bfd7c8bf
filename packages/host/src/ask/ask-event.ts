import type {
  AskReceived,
  Content,
  ExpectedOutput,
  JsonObject,
  Limits,
  MessageDraft,
  OverlapType,
  Refusal,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { givenEvent } from "../boundary/given-event.ts";
import type { OptionNames } from "../boundary/option-names.ts";
import type { OutputOptions, OutputSchema } from "../output/expected.ts";
import { type CallerToolDefinition, readCallerTools } from "../tools/caller-tools.ts";
import type { ToolContext } from "../tools/tool.ts";

/** What is asked: a text, its parts, or whole messages. An empty list asks the model to go on. */
export type AskInput = Content | readonly MessageDraft[];

/** How something is asked. */
export interface AskOptions<Schema extends OutputSchema = never> {
  /** The same id gives the same outcome, however often it is asked, also after a restart, until some 256 turns later. Default: drawn. */
  readonly askId?: string;
  /** Cancels the ask. One that is aborted already leaves nothing behind. */
  readonly signal?: AbortSignal;
  /** Who asks, for the model. */
  readonly name?: string;
  readonly metadata?: JsonObject;
  /** Laid over the thread's model parameters, member by member, for this turn. */
  readonly model?: JsonObject;
  /** Laid over the machine's limits for this turn. */
  readonly limits?: Limits;
  /** What becomes of it while a turn is open. Default: as the machine says. */
  readonly overlap?: OverlapType;
  /**
   * The turn opens behind this one (0: at the beginning), or behind a checkpoint: the head moves there and the ask is taken
   * in one entry, so nothing comes between. It never waits: while a turn is open, `whenBusy` says what becomes of it. The
   * thread's journal rises to format 2, which versions before 0.2 refuse to read.
   */
  readonly from?: AskReceived["from"];
  /**
   * What becomes of an ask with `from` while a turn is open. `fork`: the thread is forked at that turn, nothing is run
   * again, and the ask goes on there, which a part `thread.forked` says, and the `threadId` of handle and result. Its id is
   * derived, so that the same askId finds the same fork. Default `reject`: it is refused as busy.
   */
  readonly whenBusy?: "reject" | "fork";
  /**
   * What the answer has to be: the result then has it as `output`, typed and validated by its schema. An answer that does not
   * fit is refused, and the model asked again. Raises the thread's journal to format 2, which versions before 0.2 refuse to read.
   */
  readonly output?: OutputOptions<Schema>;
  /**
   * Tools of whoever asks: the model is offered them in this turn beside the host's, and no host runs them. Their calls wait
   * for `thread.answerTool`, for days if need be. The thread's journal rises to format 2.
   */
  readonly tools?: readonly CallerToolDefinition[];
  /** Laid over the host's tool context, member by member, for this turn's tools; where one turn answers several asks, that of the first. Never journalled. */
  readonly toolContext?: ToolContext;
}

/** How something is asked that is only for the turn that is open. */
export interface SteerOptions extends Omit<AskOptions, "overlap" | "from" | "whenBusy" | "output"> {
  /** The ask whose turn it is for. Default: whichever is open. */
  readonly during?: string;
}

export const askOptionNames: OptionNames<AskOptions> = {
  askId: true,
  signal: true,
  name: true,
  metadata: true,
  model: true,
  limits: true,
  overlap: true,
  from: true,
  whenBusy: true,
  output: true,
  tools: true,
  toolContext: true,
};

const { overlap: _, from: __, whenBusy: ___, output: ____, ...sharedNames } = askOptionNames;

export const steerOptionNames: OptionNames<SteerOptions> = { ...sharedNames, during: true };

/** The event of an ask; or why there is none. A plain text needs no copy, and no check. */
export const askEvent = (
  at: number,
  askId: string,
  input: AskInput,
  { name, metadata, model, limits, overlap, from, tools: defined }: Omit<AskOptions, "output">,
  joins?: AskReceived["joins"],
  output?: ExpectedOutput,
): Either.Either<Refusal, AskReceived> => {
  const read =
    defined == null || (Array.isArray(defined) && defined.length === 0)
      ? Either.right(undefined)
      : readCallerTools(defined);
  if (Either.isLeft(read)) return Either.left({ kind: "invalid", reason: `ask: ${read.left}` });
  const tools = read.right;
  const event: AskReceived = { type: "ask.received", at, askId, input };
  const texts = typeof input === "string" && typeof askId === "string" && askId !== "";
  if (texts && (name ?? metadata ?? model ?? limits ?? overlap ?? from ?? tools ?? joins ?? output) === undefined)
    return Either.right(event);
  return givenEvent<AskReceived>({ ...event, name, metadata, model, limits, overlap, from, tools, joins, output });
};
