import type { StorePlace } from "../../kit/places.ts";

/** Faults that break the servers, to show that they are noticed. */
export const faults = { blind: "an ask shows only the start and the end of its turn" } as const;

export interface ChildOptions {
  readonly place: StorePlace;
  readonly fault: keyof typeof faults | null;
}

export const callerTool = "look_up";

export const hostTool = "run";

/** Returns the model's answer after the tool results. */
export const answerTo = (question: string): string => `This is the answer to ${question}.`;

export const recoveryMs = 1_500;
