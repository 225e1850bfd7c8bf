import type {
  AskReceived,
  Content,
  Event,
  Failure,
  Json,
  JsonObject,
  MessageDraft,
  ReplyDraft,
  ReportedUsage,
  RoundAppended,
  SeedDraft,
  SystemDraft,
  ThreadInput,
  ToolFailed,
  ToolWithheld,
  TurnAnnotated,
} from "@colloquy/machine";

/**
 * What happens to a conversation, said without knowing it: "answer the second thing that is out". It is read
 * against the state that is reached, so that most of its moves fit, and it stays meaningful when it shrinks.
 */
export interface Schedule {
  readonly input: ThreadInput;
  readonly moves: readonly Move[];
}

/** One thing that happens, `afterMs` milliseconds after the one before; negative where a clock was set back. */
export type Move = { readonly afterMs: number } & (AskMove | OutcomeMove | TimeMove | EditMove | StrayMove);

/** Chooses among what there is: it is taken modulo their number. */
type Choice = number;

type AskMove =
  | ({ readonly move: "ask" } & Pick<
      AskReceived,
      "input" | "name" | "metadata" | "model" | "limits" | "overlap" | "output" | "tools"
    > & {
        /** It is only for the turn that is open: that of its first ask, anybody's, or one that there is not. */
        readonly joins?: "open" | "anybody" | "nobody";
        /** Behind which turn. The first one of a thread lets its journal rise to the format that it needs. */
        readonly from?: Choice | { readonly checkpoint: string };
      })
  | {
      readonly move: "cancel";
      readonly whom: "open" | "queued" | "joining" | "nobody";
      readonly reason?: string;
      readonly partial?: ReplyDraft;
      readonly usage?: ReportedUsage;
    };

/** The good or the bad outcome of whatever is picked; a timer that is picked fires. */
type OutcomeMove =
  | {
      readonly move: "answer";
      readonly pick: Choice;
      readonly reply: ReplyDraft;
      readonly finishReason: string | null;
      readonly usage?: ReportedUsage;
      readonly model?: string;
      readonly content: Content | null;
    }
  | {
      readonly move: "fail";
      readonly pick: Choice;
      readonly failure: Failure;
      readonly partial?: ReplyDraft;
      readonly usage?: ReportedUsage;
      readonly model?: string;
      readonly outcome: ToolFailed["outcome"];
      readonly content: Content;
    }
  /** The answer to a question whether a tool may run. */
  | {
      readonly move: "approve";
      readonly pick: Choice;
      readonly approved: boolean;
      readonly digest: "right" | "wrong" | "none";
      readonly reason?: string;
      readonly by?: string;
    }
  /** A runtime withholds a call, even of a tool that needs no approval. */
  | {
      readonly move: "withhold";
      readonly pick: Choice;
      readonly because: ToolWithheld["because"];
      readonly version?: string;
      readonly arguments: Json;
    }
  | { readonly move: "progress"; readonly partial: ReplyDraft; readonly again: boolean }
  | { readonly move: "startTool"; readonly pick: Choice };

type TimeMove = { readonly move: "fire"; readonly pick: Choice; readonly early: boolean };

type EditMove =
  | { readonly move: "append"; readonly message: MessageDraft }
  /** The first one of a thread lets its journal rise to the format that a round needs. */
  | ({ readonly move: "appendRound" } & Pick<RoundAppended, "reply" | "results">)
  | { readonly move: "changeSystem"; readonly system: SystemDraft | null }
  | { readonly move: "addTurn"; readonly messages: readonly SeedDraft[] }
  | { readonly move: "annotate"; readonly pick: Choice; readonly name: string; readonly value: TurnAnnotated["value"] }
  | { readonly move: "truncate"; readonly pick: Choice; readonly characters: number }
  | { readonly move: "checkpoint"; readonly name: string }
  | { readonly move: "moveHead"; readonly to: Choice | { readonly checkpoint: string } }
  /** One of the messages on the path, or of those that are pinned. */
  | { readonly move: "pin"; readonly pick: Choice; readonly pinned: boolean }
  | { readonly move: "resetSystem" }
  | { readonly move: "setMetadata"; readonly metadata: JsonObject }
  /** As a copy of the thread begins. */
  | { readonly move: "fork"; readonly pick: Choice }
  /** The entries of one turn, or one that there is not. */
  | { readonly move: "redact"; readonly pick: Choice; readonly reason?: string }
  | { readonly move: "reconfigure" }
  /** The journal has the newest format from here on. */
  | { readonly move: "raise" };

/** What should not happen: an event sent again, an answer to another thread, an event out of nowhere. */
type StrayMove =
  | { readonly move: "repeat"; readonly pick: Choice }
  | { readonly move: "foreign"; readonly pick: Choice }
  | { readonly move: "send"; readonly event: Event };
