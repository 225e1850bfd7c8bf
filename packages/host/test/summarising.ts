import type { Policy } from "@colloquy/machine/policies";

/** Shows everything, and orders a summary of each turn after its end. */
export const summarising: Policy = {
  name: "summarising",
  version: 1,
  options: {},
  monotone: true,
  stable: true,
  decide: () => ({ from: null, reason: "everything is kept" }),
  summariser: {
    instruction: "Sum it up.",
    model: { temperature: 0 },
    maxTokens: 100,
    next: ({ history }) => {
      for (const { number, summaries, summaryFailures } of history.newestFirst())
        return summaries.length + summaryFailures > 0 ? null : { covers: { from: number, to: number }, earlier: null };
      return null;
    },
  },
};
