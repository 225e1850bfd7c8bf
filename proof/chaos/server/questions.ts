import type { Mistake } from "../../kit/program.ts";

export const faults = { blind: "an ask shows only the start and the end of its turn" } as const;

export const mistakes: Readonly<Record<keyof typeof faults, Mistake>> = {
  blind: {
    file: "/packages/server/src/responses/running-turns.ts",
    text: "if (isCatchingUp && !mayComeAgain.has(part.type)) continue;",
    instead: 'if (part.type !== "turn.started" && part.type !== "turn.ended") continue;',
  },
};

export const callerTool = "look_up";

export const hostTool = "run";

export const answerTo = (question: string): string => `This is the answer to ${question}.`;
