import type { ConversationMachine } from "@colloquy/machine";
import type { CanonicalItem } from "./canonical-item.ts";
import { toolCallsDifference } from "./checks.ts";
import { type Drive, drive, send, soleCall } from "./drive.ts";
import { noFigures } from "./figures.ts";
import { firstItemDifference } from "./item-checks.ts";
import { itemsOfMessages, responseDraft, tokensOf } from "./item-drafts.ts";
import { feedInput, openingOf } from "./item-feed.ts";
import { journalDifference } from "./journal.ts";
import { difference, type Obstacle, obstacleOfCut } from "./obstacle.ts";
import type { CaseReplay } from "./case-replay.ts";
import type { RecordedOutput, RecordedResponsesCase } from "./responses-case.ts";
import { finalItemsDifference, figuresOfItems } from "./responses-end.ts";
import { responsesTranscript, type ResponsesTranscript } from "./responses-transcript.ts";

/**
 * Runs a conversation over the Responses API through a machine. Each model call must be sent the recorded items, by
 * hash, and must lead to the recorded function calls. The journal gets the client's version of a response (for example
 * without its reasoning). If a call names a previous response, only the items after that response are compared with the
 * recorded hash.
 */
export const replayResponses = (recorded: RecordedResponsesCase, machine: ConversationMachine): CaseReplay => {
  const transcript = responsesTranscript(recorded);
  if ("kind" in transcript) return ended(recorded, null, null, transcript);
  const opening = openingOf(recorded);
  if ("kind" in opening) return ended(recorded, transcript, null, opening);
  const { system, seed, asked } = opening;
  const driven = drive(machine, {
    threadId: recorded.id,
    ...(system === null ? {} : { system }),
    ...(seed.length === 0 ? {} : { seed }),
  });
  const obstacle = perform(driven, recorded, transcript, asked) ?? endObstacle(driven, recorded, transcript);
  return ended(recorded, transcript, driven, obstacle);
};

const perform = (
  driven: Drive,
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript,
  asked: readonly CanonicalItem[],
): Obstacle | null => {
  let k = 0;
  for (const [index, step] of recorded.steps.entries()) {
    const isFirst = index === 0 || (index === 1 && recorded.steps[0]?.type === "input");
    const before = recorded.steps[index - 1];
    if (step.type === "input") continue;
    const items = isFirst ? asked : before?.type === "input" ? before.items : [];
    const obstacle =
      feedInput(driven, items, isFirst ? null : index - 1) ?? callModel(driven, recorded, transcript, k, index, step);
    if (obstacle !== null) return obstacle;
    k++;
  }
  const last = recorded.steps.at(-1);
  return last?.type === "input" && k > 0 ? feedInput(driven, last.items, recorded.steps.length - 1) : null;
};

const callModel = (
  driven: Drive,
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript,
  k: number,
  index: number,
  step: RecordedOutput,
): Obstacle | null => {
  const call = soleCall(driven);
  if (typeof call === "string")
    return difference(index, `a model call should be out, and nothing else; out is ${call}`);
  const place = transcript.prompts[k] ?? { from: 0, to: 0 };
  const came = itemsOfMessages(call.messages, recorded.instructions);
  if (typeof came === "string") return difference(index, `model call ${k}: ${came}`);
  // A client does not send the items before the named response again; the machine's prompt still has them.
  const wrong = firstItemDifference(came, transcript.items.slice(0, place.to));
  if (wrong !== null) return difference(index, `model call ${k}: ${wrong}`);
  const kept = transcript.kept.get(index) ?? [];
  const calls = kept.flatMap((item) =>
    item.type === "function_call"
      ? [{ id: text(item["call_id"]), name: text(item["name"]), arguments: text(item["arguments"]) ?? "null" }]
      : [],
  );
  const cut = obstacleOfCut(index, step.status, calls.length);
  if (cut !== null) return cut;
  const refused = send(driven, {
    type: "llm.completed",
    effectId: call.id,
    reply: responseDraft(kept),
    finishReason: step.status,
    ...(step.usage ? { usage: tokensOf(step.usage) } : {}),
    promptDigest: call.promptDigest,
  });
  if (refused !== null) return difference(index, refused);
  const other = toolCallsDifference(driven, calls);
  return other === null ? null : difference(index, other);
};

const endObstacle = (
  driven: Drive,
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript,
): Obstacle | null => {
  const words = finalItemsDifference(driven, recorded, transcript);
  if (words !== null) return difference(null, words);
  const journal = journalDifference(driven.machine, driven.entries, driven.state);
  return journal === null ? null : difference(null, `the journal: ${journal}`);
};

const ended = (
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript | null,
  driven: Drive | null,
  obstacle: Obstacle | null,
): CaseReplay => ({
  id: recorded.id,
  // Only the recording decides whether it can be expressed, so that a fault of the machine never counts as one of the
  // recording.
  outcome: obstacle === null ? "passed" : obstacle.kind === "inexpressible" ? "inexpressible" : "failed",
  difference: obstacle === null ? null : { step: obstacle.step, words: obstacle.words },
  figures: driven === null ? noFigures : figuresOfItems(driven, recorded),
  calls: driven?.calls ?? [],
  entries: driven?.entries ?? [],
  notes: recorded.steps.flatMap((step, index) =>
    step.type === "llm" && (transcript?.kept.get(index)?.length ?? step.output.length) !== step.output.length
      ? [`step ${index}: the client kept other items than it received; what it kept was journalled`]
      : [],
  ),
});

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
