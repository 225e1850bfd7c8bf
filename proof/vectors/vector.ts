import type {
  AnswerableEffect,
  Budget,
  Configuration,
  Effect,
  Entry,
  Event,
  JsonObject,
  MachineOptions,
  Refusal,
  State,
  StateValue,
  ThreadInput,
} from "@colloquy/machine";

/** The folders of the set. */
export const profiles = ["core", "policies", "journals"] as const;

/** The features that an implementation needs: `core` needs the policies keepAll and lastTurns, and no counting. */
export type Profile = Exclude<(typeof profiles)[number], "journals">;

export interface Script {
  readonly profile: Profile;
  readonly name: string;
  /** The subject of the vector, in one sentence. */
  readonly says: string;
  readonly machine: MachineData;
  readonly start: ThreadInput;
  readonly steps: readonly ScriptStep[];
}

export interface ScriptStep {
  /** A remark about the step, for a person. */
  readonly says?: string;
  /** The configuration of the thread from this event on. */
  readonly machine?: MachineData;
  readonly event: Event;
  /** A recovery sends the event, in place of an answer that a crash lost. */
  readonly recovered?: true;
}

/** The options of a machine as JSON, with functions by name, version and options. */
export type MachineData = Omit<MachineOptions, "policy" | "counter" | "pricing" | "budget"> & {
  readonly policy: Named;
  readonly counter?: Named;
  readonly pricing?: Named;
  readonly budget?: Budget;
};

/** A function of a configuration, as a fingerprint names it. */
export interface Named {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
}

/** A file of `vectors/core` or `vectors/policies`: a script, and the expected outcome of each step. */
export interface Vector extends Omit<Script, "machine" | "steps"> {
  readonly machine: ConfiguredMachine;
  /** The first step is the start, which has no event. */
  readonly steps: readonly [StartStep, ...(HandledStep | RefusedStep)[]];
}

/** The options with the configuration that the journal keeps. */
export type ConfiguredMachine = MachineData & { readonly configuration: Configuration };

export interface StartStep {
  readonly entry: Entry;
  readonly effects: readonly Effect[];
  readonly state: State;
  readonly outstanding: readonly Outstanding[];
}

export interface HandledStep extends VectorStep {
  readonly entry: Entry;
  readonly effects: readonly Effect[];
  /** The difference from the previous state. */
  readonly state: StatePatch;
  readonly outstanding: readonly Outstanding[];
}

export interface RefusedStep extends VectorStep {
  readonly refusal: Omit<Refusal, "reason">;
}

type VectorStep = Omit<ScriptStep, "machine"> & { readonly machine?: ConfiguredMachine };

/** The id of an outstanding effect; the effect itself if it differs from the request. */
export type Outstanding = string | AnswerableEffect;

/** The changed members of the context, complete, and the names of the removed ones. */
export interface StatePatch {
  readonly value?: StateValue;
  readonly context: JsonObject;
  readonly gone?: readonly string[];
}
