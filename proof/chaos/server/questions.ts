import type { StorePlace } from "../../kit/places.ts";

export const faults = { blind: "an ask shows only the start and the end of its turn" } as const;

export interface ChildOptions {
  readonly place: StorePlace;
  readonly fault: keyof typeof faults | null;
}

export const callerTool = "look_up";

export const hostTool = "run";

export const answerTo = (question: string): string => `This is the answer to ${question}.`;

export const recoveryMs = 1_500;
