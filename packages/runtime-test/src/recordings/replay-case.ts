import { type CallLlm, conversationMachine, type ConversationMachine, type Entry } from "@colloquy/machine";
import { type CommonFile, isStrict, type RecordedCase } from "./case.ts";
import { chatScript, isAsRecorded, transcriptOf } from "./chat-script.ts";
import type { CaseDifference } from "./difference.ts";
import { type Drive, drive, type Figures, figuresOf, noFigures } from "./drive.ts";
import { checkedCase, checkedMachine } from "./journal.ts";
import { perform } from "./perform.ts";
import { responsesScript } from "./responses-script.ts";
import { Obstacle, type Script } from "./script.ts";

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
  if (recorded.api === "responses") return replayOf(machine, recorded.id, () => responsesScript(recorded));
  const transcript = transcriptOf(recorded, options.common ?? null);
  const replay = replayOf(machine, recorded.id, () => chatScript(recorded, options.common ?? null, transcript));
  const mayBeInexpressible = !isStrict(recorded) && isAsRecorded(recorded, transcript);
  return replay.outcome === "inexpressible" && !mayBeInexpressible ? { ...replay, outcome: "failed" } : replay;
};

/** Performs a script. Only the recording decides whether it can be expressed, never a fault of the machine. */
const replayOf = (machine: ConversationMachine, id: string, read: () => Script): CaseReplay => {
  let script: Script | null = null;
  let driven: Drive | null = null;
  let obstacle: Obstacle | null = null;
  try {
    script = read();
    driven = drive(machine, script);
    perform(driven, script);
  } catch (thrown) {
    if (!(thrown instanceof Obstacle)) throw thrown;
    obstacle = thrown;
  }
  return {
    id,
    outcome: obstacle === null ? "passed" : obstacle.kind === "inexpressible" ? "inexpressible" : "failed",
    difference: obstacle === null ? null : { step: obstacle.step, words: obstacle.message },
    figures: driven === null || script === null ? noFigures : figuresOf(driven, script.end.given),
    calls: driven?.calls ?? [],
    entries: driven?.entries ?? [],
    notes: script?.notes ?? [],
  };
};

/** The result of a case's replay. */
export interface CaseReplay {
  readonly id: string;
  /**
   * `inexpressible`: events cannot express the case, because the client did something that a well-formed thread cannot
   * contain. Never for a strict case.
   */
  readonly outcome: "passed" | "failed" | "inexpressible";
  /**
   * The first difference from the recording, or the reason why no event can express it; null if it passed. `step` is
   * null before the first step and at the end.
   */
  readonly difference: CaseDifference | null;
  readonly figures: Figures;
  /** The requested model calls, in order, each with its prompt. */
  readonly calls: readonly CallLlm[];
  /** The journal of the replay. */
  readonly entries: readonly Entry[];
  /** Remarks for a reader about a passed replay. */
  readonly notes: readonly string[];
}
