import { canonicalText, type CheckOutput, type OutputAccepted, type OutputRefused } from "@colloquy/machine";
import type { StandardSchema } from "../tools/schema.ts";
import { type Checked, checkText } from "../output/check.ts";
import { type KeyFilter, keyFilter } from "../secrets/key-filter.ts";
import type { LoopPort, Running } from "./loop-port.ts";

/** A check of an output that is in progress. It answers once, or is stopped. */
export class OutputRun implements Running {
  readonly #loop: LoopPort;
  readonly #check: CheckOutput;
  #over = false;

  constructor(loop: LoopPort, check: CheckOutput) {
    this.#loop = loop;
    this.#check = check;
  }

  begin(): void {
    const { host, running } = this.#loop;
    const { id, text, output } = this.#check;
    running.set(id, this);
    const validator = { schema: schemaOf(this.#loop, this.#check), jsonSchema: output.schema };
    const checked = checkText(text, validator, host.clock);
    if (checked instanceof Promise) void checked.then((found) => this.#answer(found));
    else this.#answer(checked);
  }

  stop(): void {
    this.#over = true;
  }

  #answer(checked: Checked): void {
    if (this.#over) return;
    this.#over = true;
    this.#loop.running.delete(this.#check.id);
    const { clock, secrets } = this.#loop.host;
    const event = answerOf(this.#check.id, clock.now(), checked, keyFilter(secrets()));
    this.#loop.post({ event, sender: null });
  }
}

const answerOf = (
  effectId: string,
  at: number,
  checked: Checked,
  { text, json }: KeyFilter,
): OutputAccepted | OutputRefused => {
  switch (checked.type) {
    case "valid":
      return { type: "output.accepted", at, effectId, value: checked.value };
    case "invalid":
      return { type: "output.refused", at, effectId, issues: json(checked.issues) };
    case "failed":
      return { type: "output.refused", at, effectId, issues: [{ message: text(checked.reason) }], checkFailed: true };
  }
};

/**
 * Returns the schema of an ask of the open turn that wants this same output. Null if this host has none of them, as
 * after a crash. Then the JSON Schema in the journal is used, and an ask that is repeated with a schema validates the
 * output with it.
 */
const schemaOf = ({ state, asks }: LoopPort, { output }: CheckOutput): StandardSchema | null => {
  const wanted = canonicalText(output.schema);
  for (const { askId } of state?.context.open?.asks ?? []) {
    for (const ask of asks.named(askId)) {
      const { output: own } = ask;
      if (own !== null && own.expected.name === output.name && canonicalText(own.expected.schema) === wanted)
        return own.schema;
    }
  }
  return null;
};
