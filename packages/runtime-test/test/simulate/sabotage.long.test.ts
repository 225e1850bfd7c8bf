import { describe, expect, it } from "vitest";
import { simulate, SimulationError } from "../../src/simulate/index.ts";
import { sabotages, type Sabotage } from "./sabotage.ts";

/** Returns the first broken law within 300 conversations, or null. */
const broken = async ({ createHost, createStore, from = 1 }: Sabotage): Promise<SimulationError | null> => {
  for (let seed = from; seed < from + 300; seed++) {
    try {
      await simulate({
        seed,
        ...(createHost === undefined ? {} : { createHost }),
        ...(createStore === undefined ? {} : { createStore }),
      });
    } catch (error) {
      if (error instanceof SimulationError) return error;
      throw error;
    }
  }
  return null;
};

describe("a host that", () => {
  it.each(sabotages)("$what breaks $law", async (sabotage) => {
    const error = await broken(sabotage);
    expect(error?.message).toMatch(new RegExp(`^law ${sabotage.law} is broken`, "u"));
  });
});
