import { counted } from "../prompt/counts.ts";
import type { Cut } from "../prompt/cut.ts";
import type { Situation } from "../prompt/decide-cut.ts";
import { decideCut, wantedSummary } from "../prompt/decide-cut.ts";
import type { SummaryTask } from "../prompt/policy.ts";
import { longestTranscriptText, summaryRequest } from "../prompt/summary-request.ts";
import type { ConversationData } from "./data.ts";
import type { Decided } from "./event.ts";
import type { Settings } from "./settings.ts";

/**
 * The summary that is wanted now, where none is being written. The model reads what prompts would show of the turns,
 * each text shortened until it fits; what does not fit even so is not sent.
 *
 * @param cut how the next prompt shows the thread; decided where it is not known.
 */
export const decideSummary = (
  settings: Settings,
  data: ConversationData,
  situation: Situation,
  cut?: Cut,
): Pick<Decided, "summary" | "policyFailed"> => {
  // Whoever changed the machine and told nobody has no instruction for a summary yet.
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
  return { summary: fitted(settings, data, situation, task, summariser.instruction) };
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
  const tokensAt = (characters: number): number | null =>
    counted(() =>
      counts.prompt(summaryRequest(data.conversation, { ...task, characters }, instruction, data.summaries)),
    );
  let tokens = 0;
  for (const characters of ladder) {
    const needed = tokensAt(characters);
    // What can't be counted is sent, and may turn out to be too long.
    if (needed === null || needed <= room) return characters === longestTranscriptText ? task : { ...task, characters };
    tokens = needed;
  }
  return { ...task, unfit: { tokens, available: room } };
};

/** Unit: UTF-16 units. */
const ladder: readonly number[] = [longestTranscriptText, 4_000, 2_000, 1_000, 500, 200, 100];
