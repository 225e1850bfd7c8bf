import { ConfigurationError } from "../configuration-error.ts";
import type { Policy } from "../policy.ts";
import { shortestShrink, type Shrink } from "../shrink.ts";
import { checkCount, checkKeys, checkText, checkWord } from "./check-options.ts";
import { preview } from "../../thread/plain-data.ts";

export interface LimitResultsOptions {
  /** The largest size of a tool result, in UTF-16 units. At least 200, so that a mark fits into it. */
  readonly characters: number;
  /**
   * The part of a longer result that stays: its beginning and end, or its beginning and how to read the rest. Default
   * `headAndTail`.
   */
  readonly rule?: "headAndTail" | "reference";
  /** The tool that reads a whole result, given the call id in the mark; only for a `reference`. */
  readonly tool?: string;
}

/**
 * Shrinks every longer tool result, from the first prompt that shows it. Pinned messages stay whole.
 *
 * @throws ConfigurationError if `characters` is not a whole number ≥ 200, `rule` is unknown, or a tool is named
 * without `rule: "reference"`.
 */
export const limitResults = (options: LimitResultsOptions): Policy => {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new ConfigurationError(
      `limitResults is given ${preview(given)}; it needs options: write limitResults({ characters: 4_000 })`,
    );
  }
  checkKeys("limitResults", options, ["characters", "rule", "tool"]);
  const { characters, rule = "headAndTail", tool } = options;
  checkCount("limitResults({ characters })", characters, shortestShrink);
  checkRule("limitResults", rule, tool);
  const named = tool === undefined ? {} : { tool };
  const shrink: Shrink = { rule, of: "toolResults", characters, ...named };
  return {
    name: "limit-results",
    version: 1,
    options: { characters, rule, ...named },
    monotone: true,
    stable: true,
    newestFirst: true,
    decide: () => ({ from: null, shrink: [shrink], reason: `results longer than ${characters} characters are shrunk` }),
  };
};

/** Rejects an unknown rule, and a tool that no mark would name. */
export const checkRule = (policy: string, rule: "headAndTail" | "reference", tool: string | undefined): void => {
  checkWord(`${policy}({ rule })`, rule, ["headAndTail", "reference"]);
  if (tool === undefined) return;
  checkText(`${policy}({ tool })`, tool);
  if (tool.length > longestToolName) {
    throw new ConfigurationError(
      `${policy}({ tool }) is "${tool}"; a mark has room for ${longestToolName} characters of it`,
    );
  }
  if (rule === "reference") return;
  throw new ConfigurationError(
    `${policy}({ tool }) is "${tool}", which only a reference names; add rule: "reference", or leave it out`,
  );
};

/** The longest name that providers allow. */
const longestToolName = 64;
