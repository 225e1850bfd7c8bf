import type {
  ApprovalAnswered,
  AskReceived,
  CancelRequested,
  Event,
  JsonObject,
  LlmCompleted,
  LlmFailed,
  MessageDraft,
  ReplyDraft,
  RoundAppended,
  SeedDraft,
  SystemDraft,
  ThreadInput,
  ToolCompleted,
  ToolFailed,
  ToolWithheld,
  TurnAnnotated,
} from "@colloquy/machine";

/**
 * The moves of a conversation, without knowledge of its state: "answer the second outstanding effect". Each move is
 * interpreted in the state at that point, so that most moves fit. A schedule therefore stays meaningful when it
 * shrinks.
 */
export interface Schedule {
  readonly input: ThreadInput;
  readonly moves: readonly Move[];
}

/** One move, `afterMs` milliseconds after the one before; negative if a clock was set back. */
export type Move = { readonly afterMs: number } & (AskMove | OutcomeMove | EditMove | StrayMove);

/** An index into a list, modulo its length. */
type Choice = number;

type AskMove =
  | ({ readonly move: "ask" } & Pick<
      AskReceived,
      "input" | "name" | "metadata" | "model" | "limits" | "overlap" | "output" | "tools"
    > & {
        /** The turn that the ask may only join: that of its first ask, any open one, or one that does not exist. */
        readonly joins?: "open" | "anybody" | "nobody";
        /** The turn after which the ask starts. */
        readonly from?: Choice | { readonly checkpoint: string };
      })
  | ({ readonly move: "cancel"; readonly whom: "open" | "queued" | "joining" | "nobody" } & Pick<
      CancelRequested,
      "reason" | "partial" | "usage"
    >);

/** The successful or failed outcome of the picked effect; a picked timer fires. */
type OutcomeMove =
  | ({ readonly move: "answer"; readonly pick: Choice } & Pick<
      LlmCompleted,
      "reply" | "finishReason" | "usage" | "model"
    > &
      Pick<ToolCompleted, "content">)
  | ({ readonly move: "fail"; readonly pick: Choice } & Pick<LlmFailed, "failure" | "partial" | "usage" | "model"> &
      Pick<ToolFailed, "outcome" | "content">)
  /** The decision on a requested approval. */
  | ({ readonly move: "approve"; readonly pick: Choice; readonly digest: "right" | "wrong" | "none" } & Pick<
      ApprovalAnswered,
      "approved" | "reason" | "by"
    >)
  /** A runtime withholds a call, even of a tool that needs no approval. */
  | ({ readonly move: "withhold"; readonly pick: Choice } & Pick<ToolWithheld, "because" | "version" | "arguments">)
  | { readonly move: "progress"; readonly partial: ReplyDraft; readonly again: boolean }
  | { readonly move: "startTool"; readonly pick: Choice }
  | { readonly move: "fire"; readonly pick: Choice; readonly early: boolean };

export type EditMove =
  | { readonly move: "append"; readonly message: MessageDraft }
  | ({ readonly move: "appendRound" } & Pick<RoundAppended, "reply" | "results">)
  | { readonly move: "changeSystem"; readonly system: SystemDraft | null }
  | { readonly move: "addTurn"; readonly messages: readonly SeedDraft[] }
  | { readonly move: "annotate"; readonly pick: Choice; readonly name: string; readonly value: TurnAnnotated["value"] }
  | { readonly move: "truncate"; readonly pick: Choice; readonly characters: number }
  | { readonly move: "checkpoint"; readonly name: string }
  | { readonly move: "moveHead"; readonly to: Choice | { readonly checkpoint: string } }
  /** Picks a message on the path to pin, or a pinned message to unpin. */
  | { readonly move: "pin"; readonly pick: Choice; readonly pinned: boolean }
  | { readonly move: "resetSystem" }
  | { readonly move: "setMetadata"; readonly metadata: JsonObject }
  /** The event with which a fork begins. */
  | { readonly move: "fork"; readonly pick: Choice }
  /** Redacts the entries of one turn, or of a turn that does not exist. */
  | { readonly move: "redact"; readonly pick: Choice; readonly reason?: string };

/** Events that should not occur: a repeated event, an answer to another thread, any random event. */
type StrayMove =
  | { readonly move: "reconfigure" }
  | { readonly move: "repeat"; readonly pick: Choice }
  | { readonly move: "foreign"; readonly pick: Choice }
  | { readonly move: "send"; readonly event: Event };
