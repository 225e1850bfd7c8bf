import type { OutputOptions, StandardSchema } from "@colloquy/host";

/** The result of the simulated output's schema for an answer. Only the schema makes one. */
export class SimulatedOutput {
  readonly even: number;

  constructor(even: number) {
    this.even = even;
    Object.freeze(this);
  }
}

/**
 * Returns the output options of the simulated user: an even number, of which the JSON Schema says only that it is a
 * number.
 */
export const simulatedOutput = (repairs: number): OutputOptions<StandardSchema<unknown, SimulatedOutput>> => ({
  schema: {
    "~standard": {
      version: 1,
      vendor: "simulated",
      validate: (value) => {
        const even = numberIn(value);
        return even !== null && even % 2 === 0
          ? { value: new SimulatedOutput(even) }
          : { issues: [{ message: "expected an even number", path: ["even"] }] };
      },
      jsonSchema: {
        input: () => ({ type: "object", properties: { even: { type: "number" } }, required: ["even"] }),
      },
    },
  },
  name: "even",
  repairs,
});

/** Returns the number in a value of that form; null for any other value. */
const numberIn = (value: unknown): number | null =>
  typeof value === "object" && value !== null && "even" in value && typeof value.even === "number" ? value.even : null;
