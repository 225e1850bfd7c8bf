import { ConfigurationError } from "../configuration-error.ts";
import { type JsonObject, preview, frozenCopy } from "../../thread/plain-data.ts";
import { defaultWaitMs } from "../policy.ts";
import { checkCount, checkKeys, checkText, checkWord } from "./check-options.ts";
import type { SummaryLevel } from "./summary-instructions.ts";

/** The options for a policy's summaries. */
export interface SummaryOptions {
  /** The detail of the default instruction. Default `concise`. */
  readonly level?: SummaryLevel;
  /** The system prompt of the model call that writes a summary, instead of the default. */
  readonly instruction?: string;
  /**
   * Model and provider parameters of that call. They override those of the thread; all others apply to it too, such as
   * a `response_format`. Default {}.
   */
  readonly model?: JsonObject;
  /** A longer summary is not used. The default instructions ask for a number of words that stays well below. */
  readonly maxTokens?: number;
  /**
   * The largest size of the request for a summary; its texts are shortened to fit. Default: the room of prompts. Set
   * it if another model writes the summaries. Unit: tokens.
   */
  readonly requestTokens?: number;
  /**
   * The time that an answer waits for a summary if its prompt does not fit without one. Unit: milliseconds. Default
   * 60,000.
   */
  readonly waitMs?: number;
}

/**
 * Fills in the defaults. All of them are options of the policy, so that a changed instruction changes the fingerprint.
 *
 * @throws ConfigurationError if the level is unknown, the instruction is empty, the model is not an object, or a
 * number of tokens is 0.
 */
export const summaryOptions = (
  policy: keyof typeof ownOptions,
  given: SummaryOptions,
  ours: {
    readonly instruction: (level: SummaryLevel, maxTokens: number) => string;
    readonly maxTokens: { readonly [level in SummaryLevel]: number };
  },
): Required<Omit<SummaryOptions, "requestTokens">> & Pick<SummaryOptions, "requestTokens"> => {
  checkKeys(policy, given, [
    ...ownOptions[policy],
    "level",
    "instruction",
    "model",
    "maxTokens",
    "requestTokens",
    "waitMs",
  ]);
  const { level = "concise", instruction, model = {}, maxTokens, requestTokens, waitMs = defaultWaitMs } = given;
  checkWord(`${policy}({ level })`, level, ["verbose", "concise"]);
  const most = maxTokens ?? ours.maxTokens[level];
  checkCount(`${policy}({ maxTokens })`, most, 1);
  if (requestTokens !== undefined) checkCount(`${policy}({ requestTokens })`, requestTokens, 1);
  checkCount(`${policy}({ waitMs })`, waitMs);
  if (instruction !== undefined) checkText(`${policy}({ instruction })`, instruction);
  if (typeof model !== "object" || model === null || Array.isArray(model)) {
    throw new ConfigurationError(`${policy}({ model }) is ${preview(model)}; it must be an object of parameters`);
  }
  return {
    level,
    instruction: instruction ?? ours.instruction(level, most),
    model: frozenCopy(model),
    maxTokens: most,
    ...(requestTokens === undefined ? {} : { requestTokens }),
    waitMs,
  };
};

/** The options of each policy beside these. */
const ownOptions = {
  summariseTurns: ["maxTurns", "keepTurns"],
  compactTurns: ["keepTurns", "at"],
} as const;

/** The number of attempts at a summary that ends with the same turn. */
export const mostSummaryFailures = 2;
