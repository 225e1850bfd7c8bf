import type { AskReceived, Content, JsonObject, Limits, MessageDraft, OverlapType } from "@colloquy/machine";
import { kinds, type OptionKinds } from "../boundary/option-kinds.ts";
import type { OutputOptions, OutputSchema } from "../output/expected.ts";
import type { CallerToolDefinition, ToolContext } from "../tools/tool.ts";

/** The content of an ask: a text, its parts, or whole messages. An empty list asks the model to continue. */
export type AskInput = Content | readonly MessageDraft[];

/** The options of an ask. */
export interface AskOptions<Schema extends OutputSchema = never> {
  /** The same id gives the same outcome, also after a restart, until some 256 turns later. Default: generated. */
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
  askId: kinds.anything,
  signal: kinds.signal,
  name: kinds.anything,
  metadata: kinds.anything,
  model: kinds.anything,
  limits: kinds.anything,
  overlap: kinds.anything,
  from: kinds.anything,
  whenBusy: kinds.oneOf("reject", "fork"),
  output: kinds.anything,
  tools: kinds.anything,
  toolContext: kinds.anything,
};

const { overlap: _, from: __, whenBusy: ___, output: ____, ...sharedKinds } = askOptionKinds;

export const steerOptionKinds: OptionKinds<SteerOptions> = { ...sharedKinds, during: kinds.anything };
