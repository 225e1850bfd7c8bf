import type { SearchHit } from "@colloquy/host";
import type { Entry, JsonObject, Message, RequestApproval } from "@colloquy/machine";
import type { Explanation, StateDifference, TreeRow, UnitExplanation, UnitShown } from "@colloquy/machine/inspect";

/** What server and page agree on once: what can be shown and done here. */
export interface Setup {
  readonly chart: Chart;
  /** Names of configurations under which prompts can be looked at; the first is the studio's own. */
  readonly policies: readonly string[];
  /** Names of models that a turn can be tried again with; empty where the default alone is known. */
  readonly models: readonly string[];
  readonly searches: boolean;
  /** What is looked at, for a person. */
  readonly about: string;
}

/** Entries that hold the words of a search, and whether there are more of them. */
export interface FoundView {
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
  readonly initial: boolean;
  /** Of one that has states below it, those. */
  readonly below: readonly string[];
}

/** An arrow between two states, each a leaf or one of the five. */
export interface ChartArrow {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
}

/** A thread as it is now. */
export interface ThreadOverview {
  readonly threadId: string;
  /** How many entries its journal has. */
  readonly entries: number;
  readonly turns: number;
  readonly head: number;
  readonly place: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly forkedFrom: { readonly threadId: string; readonly turn: number } | null;
  readonly approvals: readonly RequestApproval[];
  /** Calls, tokens and cost of all of it, in words. */
  readonly usage: string;
}

export type RowKind = "user" | "assistant" | "tool" | "approval" | "system" | "failure" | "other";

/** An entry in the timeline. */
export interface TimelineRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly kind: RowKind;
  /** The turn that it belongs to; null for none. */
  readonly turn: number | null;
  /** The beginning of what it says. */
  readonly words: string;
  /** The state behind it. */
  readonly place: string;
  /** Whether it has a model asked. */
  readonly asks: boolean;
  /** What else is to be said of it: recovered, redacted, what was decided. */
  readonly marks: readonly string[];
}

/** Some items of a long list. */
export interface Page<Item> {
  readonly total: number;
  readonly from: number;
  readonly items: readonly Item[];
}

/** A turn in the tree. */
export interface TreeItem extends Omit<TreeRow, "hidden"> {
  readonly onPath: boolean;
  readonly isHead: boolean;
  readonly status: string;
  readonly words: string;
  readonly names: readonly string[];
  /** The entry that opened it. */
  readonly seq: number;
}

/** An entry, and the state behind it. */
export interface EntryView {
  readonly entry: Entry;
  readonly entries: number;
  /** The states before and behind it. */
  readonly came: string | null;
  readonly place: string;
  readonly turn: number | null;
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** The newest call that was asked for up to here; null for none. */
  readonly call: number | null;
}

/** The prompt of a call, or the one that another configuration would send in its place. */
export interface PromptView extends Omit<Explanation, "units" | "summary" | "share"> {
  readonly call: {
    readonly seq: number;
    readonly turn: number;
    readonly step: number;
    readonly attempt: number;
    readonly digest: string;
    readonly model: JsonObject;
    readonly tools: readonly string[];
    /** Input tokens as the provider reported them; null where it did not. */
    readonly reported: number | null;
  };
  /** Whether the thread ran under the configuration that counts here. */
  readonly configured: boolean;
  /** Of how many units what is shown. */
  readonly counts: Readonly<Record<UnitShown, number>>;
  /** What the prompt consists of, in its order. */
  readonly sent: readonly Segment[];
  /** What becomes of the thread, in its order. */
  readonly whole: readonly Segment[];
}

export type SegmentKind = "system" | "summary" | "pinned" | "whole" | "shrunk" | "open" | "summarised" | "out";

/** Neighbouring units of which the same is shown. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly tokens: number;
  readonly units: number;
  /** The place of its first unit. */
  readonly from: number;
}

/** A unit of the thread in a prompt. */
export interface UnitItem extends Pick<UnitExplanation, "shown" | "rule" | "why" | "tokens" | "sentTokens"> {
  readonly index: number;
  readonly turn: string;
  readonly name: string;
  readonly words: string;
}

/** What a unit holds, and what is shown of it. */
export type UnitView = Pick<UnitExplanation, "messages" | "sent">;

/** Two states side by side. */
export interface DifferenceView {
  readonly difference: StateDifference;
  /** How many messages both begin with. */
  readonly alike: number;
  /** What follows on either side, at most so many. */
  readonly left: readonly Message[];
  readonly right: readonly Message[];
}

/** A thread that was made, to go to. */
export interface Made {
  readonly threadId: string;
}
