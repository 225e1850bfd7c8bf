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
import { kinds, type OptionKinds } from "../boundary/option-kinds.ts";
import type { OutputOptions, OutputSchema } from "../output/expected.ts";
import { type CallerToolDefinition, readCallerTools } from "../tools/caller-tools.ts";
import type { ToolContext } from "../tools/tool.ts";

/** The content of an ask: a text, its parts, or whole messages. An empty list asks the model to continue. */
export type AskInput = Content | readonly MessageDraft[];

/** The options of an ask. */
export interface AskOptions<Schema extends OutputSchema = never> {
  /**
   * The same id gives the same outcome, however often it is asked and also after a restart, until some 256 turns later.
   * Default: a generated id.
   */
  readonly askId?: string;
  /** Cancels the ask. If it is already aborted, nothing is journalled. */
  readonly signal?: AbortSignal;
  /** The name of the asking person or program, for the model. */
  readonly name?: string;
  readonly metadata?: JsonObject;
  /** Overrides the thread's model parameters, member by member, for this turn. */
  readonly model?: JsonObject;
  /** Overrides the machine's limits for this turn. */
  readonly limits?: Limits;
  /** The behaviour of the ask while a turn is open. Default: the machine's setting. */
  readonly overlap?: OverlapType;
  /**
   * Opens the turn after this one (0: at the beginning), or after a checkpoint. The head moves there and the ask is
   * accepted in one entry, so nothing comes between. Such an ask never waits: while a turn is open, `whenBusy` decides.
   */
  readonly from?: AskReceived["from"];
  /**
   * The behaviour of an ask with `from` while a turn is open. Default `reject`: it is refused as busy. `fork`: the
   * thread is forked at that turn, nothing is run again, and the ask continues in the fork. A part `thread.forked` and
   * the `threadId` of handle and result say so. The fork's id is derived, so the same askId finds the same fork.
   */
  readonly whenBusy?: "reject" | "fork";
  /**
   * The output that the answer must have. The result then has it as `output`, typed and validated by its schema. An
   * answer that does not fit is refused, and the model is asked again.
   */
  readonly output?: OutputOptions<Schema>;
  /**
   * Tools of the caller. The model is offered them in this turn beside the host's, and no host runs them. Their calls
   * wait for `thread.answerTool`, for days if need be.
   */
  readonly tools?: readonly CallerToolDefinition[];
  /**
   * Overrides the host's tool context, member by member, for this turn's tools. If one turn answers several asks, the
   * context of the first is used. Never journalled.
   */
  readonly toolContext?: ToolContext;
}

/** The options of an ask that is only for the open turn. */
export interface SteerOptions extends Omit<AskOptions, "overlap" | "from" | "whenBusy" | "output"> {
  /** The ask whose turn it is for. Default: any turn that is open. */
  readonly during?: string;
}

export const askOptionKinds: OptionKinds<AskOptions> = {
  askId: true,
  signal: kinds.signal,
  name: true,
  metadata: true,
  model: true,
  limits: true,
  overlap: true,
  from: true,
  whenBusy: kinds.oneOf("reject", "fork"),
  output: true,
  tools: true,
  toolContext: true,
};

const { overlap: _, from: __, whenBusy: ___, output: ____, ...sharedKinds } = askOptionKinds;

export const steerOptionKinds: OptionKinds<SteerOptions> = { ...sharedKinds, during: true };

/** Returns the event of an ask, or why it is refused. A plain text needs no copy and no check (`isRead`). */
export const askEvent = (
  at: number,
  askId: string,
  input: AskInput,
  { name, metadata, model, limits, overlap, from, tools: defined }: Omit<AskOptions, "output">,
  joins?: AskReceived["joins"],
  output?: ExpectedOutput,
): Either.Either<Refusal, { readonly event: AskReceived; readonly isRead: boolean }> => {
  const read =
    defined == null || (Array.isArray(defined) && defined.length === 0)
      ? Either.right(undefined)
      : readCallerTools(defined);
  if (Either.isLeft(read)) return Either.left({ kind: "invalid", reason: `ask: ${read.left}` });
  const tools = read.right;
  const event: AskReceived = { type: "ask.received", at, askId, input };
  const texts = typeof input === "string" && typeof askId === "string" && askId !== "";
  if (texts && (name ?? metadata ?? model ?? limits ?? overlap ?? from ?? tools ?? joins ?? output) === undefined)
    return Either.right({ event: Object.freeze(event), isRead: Number.isFinite(at) });
  return Either.map((given: AskReceived) => ({ event: given, isRead: false }))(
    givenEvent<AskReceived>({ ...event, name, metadata, model, limits, overlap, from, tools, joins, output }),
  );
};
