import { counted } from "../../prompt/counts.ts";
import type { Cut } from "../../prompt/cut.ts";
import { decideCut, type Situation, wantedSummary } from "../../prompt/decide-cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import { leastRequest, longestTranscriptText, summaryRequest } from "../../prompt/summary-request.ts";
import { turnsNewestFirst } from "../../thread/path.ts";
import { type ConversationData, remembered } from "../protocol/data.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Settings } from "./settings.ts";

/**
 * Returns the summary to ask for now, if none is pending. The model reads what prompts would show of the turns. Each
 * text is shortened until the request fits; if it never fits, no request is sent.
 *
 * @param cut how the next prompt shows the thread; decided here if it is missing.
 */
export const decideSummary = (
  settings: Settings,
  data: ConversationData,
  situation: Situation,
  cut?: Cut,
): Pick<Decided, "summary" | "policyFailed"> => {
  // A machine that was changed without `thread.configured` has no instruction for a summary yet.
  const { summariser } = data.configuration;
  if (data.summarising !== null || summariser === undefined) return {};
  const wanted = wantedSummary(settings.policy, situation);
  if (wanted === null) return {};
  if (typeof wanted === "string") return { policyFailed: wanted };
  const { fields } = cut ?? decideCut(settings.policy, situation).cut;
  const task: SummaryTask = {
    ...wanted,
    ...(settings.interrupted === "omit" ? { interrupted: "omit" } : {}),
    ...(fields === undefined ? {} : { fields }),
  };
  const summary = fitted(settings, data, situation, task, summariser.instruction);
  return summary.unfit !== undefined && isKnownUnfit(settings, data, summary.unfit, summariser.instruction)
    ? {}
    : { summary };
};

const fitted = (
  { counts, policy }: Settings,
  data: ConversationData,
  { available }: Situation,
  task: SummaryTask,
  instruction: string,
): SummaryTask => {
  const room = policy.summariser?.requestTokens ?? available;
  if (room === null) return task;
  // A request that cannot be counted is sent, and may turn out to be too long.
  const tokensOf = (shortened: SummaryTask): number =>
    counted(() => counts.prompt(summaryRequest(data.conversation, shortened, instruction, data.summaries))) ?? 0;
  let tokens = 0;
  for (const characters of ladder) {
    const shortened = characters === longestTranscriptText ? task : { ...task, characters };
    tokens = tokensOf(shortened);
    if (tokens <= room) return shortened;
  }
  const shortest = { ...task, characters: shortestText };
  // Earlier turns that only give background can be left out. Those that are folded into the summary cannot.
  if (task.earlier !== null && task.earlier.from !== task.covers.from) {
    const alone = { ...shortest, earlier: null };
    tokens = tokensOf(alone);
    if (tokens <= room) return alone;
  }
  return { ...task, unfit: { tokens, available: room } };
};

/**
 * Returns whether enough failed summaries were reported, including those for lack of room. If the instruction alone is
 * too long, one failure is enough. Otherwise each failure makes the next attempt rarer, since a shorter turn may fit.
 * A request that fits after the room grew or the instruction shrank is sent at once. The number of turns to look back
 * is bounded, and so is the cost.
 */
const isKnownUnfit = (
  { counts }: Settings,
  { conversation }: ConversationData,
  { available }: NonNullable<SummaryTask["unfit"]>,
  instruction: string,
): boolean => {
  const least = counted(() => counts.prompt(leastRequest(instruction)));
  const neverFits = least !== null && least > available;
  let failures = 0;
  let sinceNewest = 0;
  let seen = 0;
  for (const { summaryFailures = 0 } of turnsNewestFirst(conversation)) {
    failures += summaryFailures;
    if (failures === 0) sinceNewest++;
    if (++seen >= remembered) break;
  }
  return neverFits ? failures > 0 : failures >= triedFreely && sinceNewest < failures;
};

/** Two turns with two attempts each, as the shipped policies make them. */
const triedFreely = 4;

/** In UTF-16 units. */
const shortestText = 100;

const ladder: readonly number[] = [longestTranscriptText, 4_000, 2_000, 1_000, 500, 200, shortestText];
