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

/** The version of the files' own format. */
export const vectorsFormat = 1;

/** The parts that an implementation needs: `core` needs the policies keepAll and lastTurns, and no counting. */
export type Profile = "core" | "policies";

/** A conversation to be played, without what is expected of it. */
export interface Script {
  readonly profile: Profile;
  /** The name of its file. */
  readonly name: string;
  /** The subject of the vector, in one sentence. */
  readonly says: string;
  readonly machine: MachineData;
  readonly start: ThreadInput;
  readonly steps: readonly ScriptStep[];
}

/** An event to send. */
export interface ScriptStep {
  /** A remark about the step, for a person. */
  readonly says?: string;
  /** From this event on the thread runs under another configuration. */
  readonly machine?: MachineData;
  readonly event: Event;
  /** A recovery sends it, in place of an answer that a crash swallowed. */
  readonly recovered?: true;
}

/** The options of a machine as JSON: functions by name, version and options. */
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

/** A file of `vectors/core` or `vectors/policies`: a script, and what is expected at each step. */
export interface Vector extends Omit<Script, "machine" | "steps"> {
  readonly vectors: typeof vectorsFormat;
  /** The format of journals that the machine writes. */
  readonly journal: number;
  readonly machine: ConfiguredMachine;
  /** The first has no event: it is the start. */
  readonly steps: readonly [StartStep, ...(HandledStep | RefusedStep)[]];
}

/** With what the journal keeps of it. */
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
  /** The difference from the state before. */
  readonly state: StatePatch;
  readonly outstanding: readonly Outstanding[];
}

export interface RefusedStep extends VectorStep {
  readonly refusal: Omit<Refusal, "reason">;
}

type VectorStep = Omit<ScriptStep, "machine"> & { readonly machine?: ConfiguredMachine };

/** The id of an effect that is outstanding as it was asked for; the effect itself where it is another by now. */
export type Outstanding = string | AnswerableEffect;

/** Members of the context that changed, whole, and the names of those that are gone. */
export interface StatePatch {
  readonly value?: StateValue;
  readonly context: JsonObject;
  readonly gone?: readonly string[];
}
