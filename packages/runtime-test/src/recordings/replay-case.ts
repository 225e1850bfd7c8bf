import { conversationMachine, type ConversationMachine } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type CommonFile, isStrict, type RecordedCase, type RecordedChatCase, type RecordedReply } from "./case.ts";
import { checkedCall, isAsRecorded, toolCallsDifference } from "./checks.ts";
import { checkedCase, checkedMachine } from "./argument-checks.ts";
import type { CaseReplay } from "./case-replay.ts";
import { type Drive, send } from "./drive.ts";
import { replyDraft, reportedUsage } from "./drafts.ts";
import { feed, type FedStep } from "./feed.ts";
import { figuresOf, finalDifference } from "./final-check.ts";
import { noFigures } from "./figures.ts";
import { journalDifference } from "./journal.ts";
import { difference, inexpressible, type Obstacle, obstacleOfCut } from "./obstacle.ts";
import { openCase } from "./opening.ts";
import { protocolProblemOf } from "./protocol.ts";
import { replayResponses } from "./replay-responses.ts";
import { canonicalOfStep, type Transcript, transcriptOf } from "./transcript.ts";

export interface CaseReplayOptions {
  /** The common file, for cases that take their system prompt from it. */
  readonly common?: CommonFile | null;
  /** Default: `recordingMachine()`. */
  readonly machine?: ConversationMachine;
}

/**
 * Makes a machine that shows everything, limits nothing, retries nothing, and requests any tool that a model names from
 * its host.
 */
export const recordingMachine = (): ConversationMachine =>
  conversationMachine({ unknownTool: "ask", interrupted: "keep", retry: { attempts: 1 } });

/**
 * Runs a recorded conversation through a machine. Users ask, and the prompt of each model call must have the recorded
 * hash. The call gets the recorded answer, and must lead to the recorded tool calls, which get the recorded results. At
 * the end, messages, counts, finish reasons and usage must equal the recorded ones, and the journal must fold and
 * replay. A recording that differs does not throw.
 *
 * @throws ConfigurationError for a value that is not a recorded case, and for a machine that `conversationMachine` did
 * not make
 */
export const replayCase = (recorded: RecordedCase, options: CaseReplayOptions = {}): CaseReplay => {
  checkedCase("replayCase", recorded);
  const machine = checkedMachine("replayCase: machine", options.machine ?? recordingMachine());
  return recorded.api === "responses"
    ? replayResponses(recorded, machine)
    : replayChat(recorded, machine, options.common ?? null);
};

const replayChat = (
  recorded: RecordedChatCase,
  machine: ConversationMachine,
  common: CommonFile | null,
): CaseReplay => {
  const transcript = transcriptOf(recorded, common);
  const opened = openCase(machine, recorded, common, transcript);
  const driven = "kind" in opened ? null : opened.driven;
  const obstacle =
    "kind" in opened
      ? opened
      : (perform(opened.driven, recorded, transcript, opened.from) ??
        finish(opened.driven, recorded, transcript, opened.from));
  return ended(
    recorded,
    driven,
    obstacle === null || isAsRecorded(recorded, transcript) ? obstacle : difference(obstacle.step, obstacle.words),
  );
};

/** Plays all steps up to the last model call. */
const perform = (driven: Drive, recorded: RecordedChatCase, transcript: Transcript, from: number): Obstacle | null => {
  let between: FedStep[] = [];
  let k = 0;
  for (const [index, step] of recorded.steps.entries()) {
    if (index < from) continue;
    if (step.type !== "llm") {
      between.push({ index, step });
      continue;
    }
    const obstacle = feed(driven, between, true) ?? callModel(driven, recorded, transcript, k, index, step);
    if (obstacle !== null) return obstacle;
    between = [];
    k++;
  }
  return null;
};

const callModel = (
  driven: Drive,
  recorded: RecordedChatCase,
  transcript: Transcript,
  k: number,
  index: number,
  step: RecordedReply,
): Obstacle | null => {
  const call = checkedCall(driven, recorded, transcript, k);
  if (typeof call === "string") return difference(index, call);
  const reply = replyDraft(step);
  if (Either.isLeft(reply)) return inexpressible(index, `the reply: ${reply.left}`);
  const recordedCalls = canonicalOfStep(step).tool_calls ?? [];
  const cut = obstacleOfCut(index, step.finish_reason ?? null, recordedCalls.length);
  if (cut !== null) return cut;
  const usage = reportedUsage(step.usage);
  const refused = send(driven, {
    type: "llm.completed",
    effectId: call.id,
    reply: reply.right,
    finishReason: step.finish_reason ?? null,
    ...(usage === undefined ? {} : { usage }),
    promptDigest: call.promptDigest,
  });
  if (refused !== null) return difference(index, refused);
  const wrong = toolCallsDifference(driven, recordedCalls);
  return wrong === null ? null : difference(index, wrong);
};

/** Plays the steps after the last model call, and compares the end. */
const finish = (driven: Drive, recorded: RecordedChatCase, transcript: Transcript, from: number): Obstacle | null => {
  const after = Math.max(from, recorded.steps.findLastIndex(({ type }) => type === "llm") + 1);
  const rest = recorded.steps.flatMap((step, index): FedStep[] =>
    index < after || step.type === "llm" ? [] : [{ index, step }],
  );
  const obstacle = (rest.length === 0 ? null : feed(driven, rest, false)) ?? endObstacle(driven, recorded, transcript);
  const broken = protocolProblemOf(transcript.messages.map(({ message }) => message));
  // Calls may be outstanding at the end.
  return obstacle === null || broken === null || broken.index === transcript.messages.length
    ? obstacle
    : inexpressible(obstacle.step, `it ends as no thread does: ${broken.reason}`);
};

const endObstacle = (driven: Drive, recorded: RecordedChatCase, transcript: Transcript): Obstacle | null => {
  const words = finalDifference(driven, recorded, transcript);
  if (words !== null) return difference(null, words);
  const journal = journalDifference(driven.machine, driven.entries, driven.state);
  return journal === null ? null : difference(null, `the journal: ${journal}`);
};

const ended = (recorded: RecordedChatCase, driven: Drive | null, obstacle: Obstacle | null): CaseReplay => ({
  id: recorded.id,
  outcome: outcomeOf(recorded, obstacle),
  difference: obstacle === null ? null : { step: obstacle.step, words: obstacle.words },
  figures: driven === null ? noFigures : figuresOf(driven, recorded),
  calls: driven?.calls ?? [],
  entries: driven?.entries ?? [],
  notes: recorded.steps.flatMap((step, index) =>
    step.type === "llm" && step.echo !== undefined
      ? [`step ${index}: the client kept another message than it received; what it kept was journalled`]
      : [],
  ),
});

const outcomeOf = (recorded: RecordedChatCase, obstacle: Obstacle | null): CaseReplay["outcome"] => {
  if (obstacle === null) return "passed";
  return obstacle.kind === "inexpressible" && !isStrict(recorded) ? "inexpressible" : "failed";
};
