import type { Turn } from "@colloquy/machine";
import { redactedText } from "@colloquy/machine/storage";
import { type Checked, checkText, checkValue } from "../output/check.ts";
import type { WantedOutput } from "../output/expected.ts";
import type { Clock } from "../ports/clock.ts";
import type { AskResult, CompletedTurn } from "./result.ts";
import { OutputError } from "./turn-errors.ts";

/** The output that an ask of this process wants. */
export interface OwnOutput extends WantedOutput {
  readonly clock: Clock;
}

/**
 * Gives the result of a turn to its ask. If the ask wants an output, its own schema validates it first: the host that
 * checked the answer earlier may have had another schema, or none.
 */
export const deliver = (
  result: CompletedTurn | Error,
  turn: Turn,
  output: OwnOutput | null,
  settle: (outcome: AskResult | Error) => void,
): void => {
  if (output === null || result instanceof Error) {
    settle(result);
    return;
  }
  if (result.text === redactedText) {
    const message = "its words were redacted";
    settle(new OutputError(result, { kind: "unchecked", message }, [{ message }], result.text));
    return;
  }
  const { clock, schema, expected } = output;
  const validator = { schema, jsonSchema: expected.schema };
  // A turn that another ask opened may have wanted no output.
  const checked =
    turn.output === undefined
      ? checkText(result.text, validator, clock)
      : checkValue(turn.output.value, validator, clock);
  const give = (found: Checked): void => settle(delivered(result, found));
  if (checked instanceof Promise) void checked.then(give);
  else give(checked);
};

const delivered = (result: CompletedTurn, checked: Checked): AskResult | OutputError => {
  if (checked.type === "valid") return Object.freeze({ ...result, output: checked.output });
  const issues = checked.type === "invalid" ? checked.issues : [{ message: checked.reason }];
  const kind = checked.type === "invalid" ? "invalid" : "unchecked";
  const message = issues.map(({ message: words, path = [] }) => [...path, words].join(": ")).join("; ");
  return new OutputError(result, { kind, message }, issues, result.text);
};
