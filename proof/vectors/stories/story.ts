import type { MachineOptions, ThreadInput } from "@colloquy/machine";

import type { Untimed } from "./events.ts";

/** A conversation as its events, each in its place, without their outcomes. */
export interface Story {
  readonly name: string;
  readonly says: string;
  readonly options?: MachineOptions;
  readonly start?: Partial<ThreadInput>;
  readonly events: readonly Told[];
}

/** An event, with or without what there is to say of it. */
export type Told = Untimed | Noted;

export interface Noted {
  readonly says?: string;
  /** From this event on the thread runs under these. */
  readonly options?: MachineOptions;
  readonly event: Untimed;
  /** A recovery sends it. */
  readonly recovered?: true;
}
