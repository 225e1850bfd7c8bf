import { ConfigurationError } from "../configuration-error.ts";
import { frozenCopy } from "../../thread/frozen.ts";
import type { JsonObject } from "../../thread/json.ts";
import { defaultWaitMs } from "../policy.ts";
import { checkCount, checkKeys, checkText, checkWord } from "./check-options.ts";
import { preview } from "../../thread/preview.ts";
import type { SummaryLevel } from "./summary-instructions.ts";

/** How a policy has its summaries written. */
export interface SummaryOptions {
  /** How much they say, where the instruction is ours. Default `concise`. */
  readonly level?: SummaryLevel;
  /** The system prompt of the model call that writes one, in place of ours. */
  readonly instruction?: string;
  /** Model and provider parameters of that call, laid over those of the thread: what is not named here, a `response_format` too, goes along as it is there. Default {}. */
  readonly model?: JsonObject;
  /** A summary of more tokens is not used; ours are asked for in words that stay well below. */
  readonly maxTokens?: number;
  /** The most that the request for a summary may take: what is read is shortened to it. Default: the room of prompts; give another where another model writes them. Unit: tokens. */
  readonly requestTokens?: number;
  /** How long an answer waits for a summary without which its prompt does not fit. Unit: milliseconds. Default 60,000. */
  readonly waitMs?: number;
}

/**
 * The options with their defaults: all of them are options of the policy, so that a changed instruction is seen.
 *
 * @throws ConfigurationError when the level is another word, the instruction empty, the model no object, or no token is allowed.
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

/** What each of the policies knows beside these. */
const ownOptions = {
  summariseTurns: ["maxTurns", "keepTurns"],
  compactTurns: ["keepTurns", "at"],
} as const;

/** So often is a summary tried that ends with the same turn. */
export const mostSummaryFailures = 2;
