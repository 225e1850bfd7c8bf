import type { StorePlace } from "../../kit/places.ts";

/** Ways to break the servers, which show that a fault is noticed. */
export const faults = { blind: "an ask is shown nothing of its turn but that it began and ended" } as const;

/** The options that a server is started with. */
export interface ChildOptions {
  readonly place: StorePlace;
  readonly fault: keyof typeof faults | null;
}

/** A tool that clients bring. */
export const callerTool = "look_up";

/** A tool that servers run. */
export const hostTool = "run";

/** Returns the answer of the model, after its tools have answered. */
export const answerTo = (question: string): string => `This is the answer to ${question}.`;

export const recoveryMs = 1_500;
