import { perMessage, type Said } from "./plain-prompt.ts";

export interface PlainCall {
  readonly unit: string;
  readonly id: string;
  readonly result: Said | null;
}

export interface PlainOpen {
  readonly number: number;
  readonly parent: number;
  readonly said: Said[];
  waiting: Said[];
  made: number;
  step: number;
  stage:
    | {
        readonly type: "responding";
        readonly attempt: number;
        readonly sent: readonly Said[];
        readonly counted: number | null;
      }
    | { readonly type: "running"; readonly calls: PlainCall[] }
    | { readonly type: "compacting" | "backing_off"; readonly attempt: number };
}

/** The tokens of a result that no tool gave. */
export const interruptedTokens = 5;

/** Returns the messages of the open turn if it were asked now: a call without a result gets one that says so. */
export const asItStands = ({ said: settled, stage, waiting }: PlainOpen): readonly Said[] => [
  ...settled,
  ...(stage.type === "running" ? stage.calls.map(resultOf) : []),
  ...waiting,
];

export const resultOf = ({ id, unit, result }: PlainCall): Said =>
  result ?? { id, role: "tool", text: "(interrupted)", unit, tokens: perMessage + interruptedTokens };
