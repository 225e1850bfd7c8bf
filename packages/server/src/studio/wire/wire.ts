import type { SearchHit, StoredThread } from "@colloquy/host";
import type { Entry, JsonObject, Message, RequestApproval } from "@colloquy/machine";
import type { Explanation, StateDifference, TreeRow, UnitExplanation, UnitShown } from "@colloquy/machine/inspect";

/** The features that the server offers; the page loads them once. */
export interface Setup {
  readonly chart: Chart;
  /** Names of the configurations for viewing prompts; the first is the studio's own. */
  readonly policies: readonly string[];
  /** Names of the models for trying a turn again; empty if only the default is known. */
  readonly models: readonly string[];
  readonly searches: boolean;
  /** The place of the store, for a person. */
  readonly about: string;
}

/** A thread of the list, with the figures by which a person chooses. */
export interface ThreadItem extends StoredThread, ThreadFigures {}

export interface ThreadFigures {
  /** The member `title` of its metadata, or its first question; empty if it has neither. */
  readonly title: string;
  /** Its present state; null if it cannot be read. */
  readonly place: string | null;
  /** The number of calls that wait for an approval. */
  readonly approvals: number;
  readonly turns: number;
  /** The reported tokens, input and output; null if none were reported. */
  readonly tokens: number | null;
  /** Null if no call has a price. */
  readonly cost: { readonly text: string; readonly nano: number } | null;
}

export interface ThreadItems {
  readonly threads: readonly ThreadItem[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
}

/** Entries that match a search, and whether there are more. */
export interface FoundView {
  /** The words that were searched. */
  readonly words: string;
  readonly hits: readonly SearchHit[];
  readonly hasMore: boolean;
}

/** A statechart, as the machine defines it. */
export interface Chart {
  readonly states: readonly ChartState[];
  readonly arrows: readonly ChartArrow[];
}

export interface ChartState {
  readonly name: string;
  /** The child states; empty for a leaf. */
  readonly below: readonly string[];
}

/** An arrow between two states, each a leaf or one of the five phases. */
export interface ChartArrow {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
}

/** The present overview of a thread. */
export interface ThreadOverview {
  readonly threadId: string;
  /** The number of entries in its journal. */
  readonly entries: number;
  readonly turns: number;
  readonly head: number;
  readonly place: string;
  readonly forkedFrom: { readonly threadId: string; readonly turn: number } | null;
  readonly approvals: readonly RequestApproval[];
  /** Its total calls, tokens and cost, as text. */
  readonly usage: string;
}

export type RowKind = "user" | "assistant" | "tool" | "approval" | "system" | "failure" | "other";

export interface TimelineRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly kind: RowKind;
  /** Its turn; null for none. */
  readonly turn: number | null;
  /** The beginning of its text. */
  readonly words: string;
  /** The state after it. */
  readonly place: string;
  /** Whether it requests a model call. */
  readonly asks: boolean;
  /** Further marks: recovered, redacted, decisions. */
  readonly marks: readonly string[];
}

export interface Page<Item> {
  readonly total: number;
  readonly from: number;
  readonly items: readonly Item[];
}

export interface TreeItem extends Omit<TreeRow, "hidden"> {
  readonly onPath: boolean;
  readonly isHead: boolean;
  readonly status: string;
  readonly words: string;
  readonly names: readonly string[];
  /** The entry that opened it. */
  readonly seq: number;
}

/** The open turn of a thread: how long it has been open, and the text that the model has written by now. */
export interface RunningView {
  readonly turn: number;
  readonly forMs: number;
  readonly text: string;
}

/** A turn as a waterfall. */
export interface TurnView {
  readonly turn: number;
  readonly status: string;
  readonly from: number;
  /** The present time if the turn is open. */
  readonly until: number;
  readonly usage: string;
  readonly spans: readonly TurnSpan[];
}

/** A part of a turn: a model call, a tool call, or a wait. */
export interface TurnSpan {
  readonly kind: "model" | "tool" | "wait";
  readonly name: string;
  /** Its outcome and figures. */
  readonly detail: string;
  readonly failed: boolean;
  readonly from: number;
  /** Null while it lasts. */
  readonly until: number | null;
  /** The entry that began it. */
  readonly seq: number;
}

/** An entry, and the state after it. */
export interface EntryView {
  readonly entry: Entry;
  readonly entries: number;
  /** The states before and after it. */
  readonly came: string | null;
  readonly place: string;
  readonly turn: number | null;
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** The newest requested call up to here; null for none. */
  readonly call: number | null;
}

/** The prompt of a call, or the one that another configuration would send instead. */
export interface PromptView extends Omit<Explanation, "units" | "summary" | "share"> {
  readonly call: {
    readonly seq: number;
    readonly turn: number;
    readonly step: number;
    readonly attempt: number;
    readonly digest: string;
    readonly model: JsonObject;
    readonly tools: readonly string[];
    /** Input tokens as reported by the provider; null if it reported none. */
    readonly reported: number | null;
  };
  /** Whether the thread ran under the configuration that counts the tokens here. */
  readonly configured: boolean;
  /** The number of units by what is shown of them. */
  readonly counts: Readonly<Record<UnitShown, number>>;
  /** The parts of the prompt, in order. */
  readonly sent: readonly Segment[];
  /** The parts of the thread, in order, with what is shown of each. */
  readonly whole: readonly Segment[];
}

export type SegmentKind = "system" | "summary" | "pinned" | "whole" | "shrunk" | "open" | "summarised" | "out";

/** Neighbouring units of the same kind. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly tokens: number;
  readonly units: number;
  /** The index of its first unit. */
  readonly from: number;
}

export interface UnitItem extends Pick<UnitExplanation, "shown" | "rule" | "why" | "tokens" | "sentTokens"> {
  readonly index: number;
  readonly turn: string;
  readonly name: string;
  readonly words: string;
}

export type UnitView = Pick<UnitExplanation, "messages" | "sent">;

export interface DifferenceView {
  readonly difference: StateDifference;
  /** The number of messages with which both begin. */
  readonly alike: number;
  /** The following messages on each side, up to a limit. */
  readonly left: readonly Message[];
  readonly right: readonly Message[];
}

/** How the prompt of a call differs from that of another one. */
export interface PromptChange {
  readonly before: PromptView["call"];
  readonly after: PromptView["call"];
  /** The number of messages that both show alike. */
  readonly alike: number;
  readonly added: readonly Message[];
  readonly removed: readonly Message[];
  readonly changed: readonly { readonly before: Message; readonly after: Message }[];
}

export interface Made {
  readonly threadId: string;
}
