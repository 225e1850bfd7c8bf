import type { Policy, PolicyInput } from "../policy.ts";
import { shortestShrink, type Shrink } from "../shrink.ts";
import { nowhere } from "../position.ts";
import { checkKeys, checkWord } from "./check-options.ts";
import { checkRule } from "./limit-results.ts";

export interface FitOversizedOptions {
  /** What stays: the beginning and the end, or the beginning and how to read the rest. Default `headAndTail`. */
  readonly rule?: "headAndTail" | "reference";
  /** The tool that reads a whole result back, given the id of the call that the mark names; of a `reference`. */
  readonly tool?: string;
  /** What may be shrunk: tool results, or those and every text and data field. Default `messages`. */
  readonly of?: "messages" | "toolResults";
}

/**
 * Shrinks what is too large to be sent at all: only when the system message, the open turn and what is pinned do not
 * fit the room by themselves, and by the largest limit by which they do, so that long texts give way first. Neither
 * the system message nor what is pinned is ever shrunk. Where the smallest limit does not do, the turn ends unfit.
 *
 * It leaves no turn out: compose it with a policy that does, and let it come first.
 *
 * @throws ConfigurationError when a word is another one, or a tool is named that no reference would name.
 */
export const fitOversized = (options: FitOversizedOptions = {}): Policy => {
  checkKeys("fitOversized", options, ["rule", "tool", "of"]);
  const { rule = "headAndTail", tool, of = "messages" } = options;
  checkRule("fitOversized", rule, tool);
  checkWord("fitOversized({ of })", of, ["messages", "toolResults"]);
  const named = tool === undefined ? {} : { tool };
  return {
    name: "fit-oversized",
    version: 1,
    options: { rule, of, ...named },
    // With more room texts are shown longer, and a window behind it shows fewer of them.
    monotone: false,
    stable: true,
    newestFirst: true,
    decide: (input) => {
      const { available } = input;
      if (available === null || fixedFits(input, available, [])) {
        return { from: null, reason: "what must be shown fits" };
      }
      const limits = ladder.map((characters): Shrink => ({ rule, of, characters, ...named }));
      const shrink = limits.find((limit) => fixedFits(input, available, [limit])) ?? limits.slice(-1)[0];
      return {
        from: null,
        ...(shrink === undefined ? {} : { shrink: [shrink] }),
        pressed: true,
        reason: `what must be shown is shrunk to texts of ${shrink?.characters} characters`,
      };
    },
  };
};

/** Limits to try. Unit: UTF-16 units. Steps of two, so that a growing turn seldom changes what was shown of it. */
const ladder: readonly number[] = [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, shortestShrink];

const fixedFits = ({ measure }: PolicyInput, available: number, shrink: readonly Shrink[]): boolean =>
  measure({ from: nowhere, shrink }) <= available;
