import type { Policy, PolicyInput } from "../policy.ts";
import { shortestShrink, type Shrink } from "../shrink.ts";
import { nowhere } from "../unit.ts";
import { checkKeys, checkWord } from "./check-options.ts";
import { checkRule } from "./limit-results.ts";

export interface FitOversizedOptions {
  /**
   * The part that stays: the beginning and the end, or the beginning and how to read the rest. Default `headAndTail`.
   */
  readonly rule?: "headAndTail" | "reference";
  /** The tool that reads a whole result, given the call id in the mark; only for a `reference`. */
  readonly tool?: string;
  /** The content that may be shrunk: tool results only, or all texts and data fields too. Default `messages`. */
  readonly of?: "messages" | "toolResults";
}

/**
 * Shrinks content that is too large to be sent at all. It acts only if the system message, the open turn and pinned
 * messages do not fit the room by themselves. It uses the largest limit at which they fit, so that long texts are
 * shortened first. The system message and pinned messages are never shrunk. If the smallest limit is not enough, the
 * turn ends as unfit.
 *
 * It leaves no turn out: compose it with a policy that does, and put it first.
 *
 * @throws ConfigurationError if a word is unknown, or if a tool is named without `rule: "reference"`.
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
    // With more room, texts are shown longer, so a later window shows fewer of them.
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

/** In UTF-16 units. Each is half of the last, so that a growing turn seldom changes what was shown of it. */
const ladder: readonly number[] = [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, shortestShrink];

const fixedFits = ({ measure }: PolicyInput, available: number, shrink: readonly Shrink[]): boolean =>
  measure({ from: nowhere, shrink }) <= available;
