import { conversationMachine, type ConversationMachine } from "@colloquy/machine";
import { checkedCase, checkedMachine } from "./argument-checks.ts";
import { type CommonFile, isStrict, type RecordedCase } from "./case.ts";
import type { CaseReplay } from "./case-replay.ts";
import { chatScript, isAsRecorded } from "./chat-script.ts";
import { noFigures } from "./figures.ts";
import type { Obstacle } from "./obstacle.ts";
import { perform } from "./perform.ts";
import { responsesScript } from "./responses-script.ts";
import type { Script } from "./script.ts";
import { transcriptOf } from "./transcript.ts";

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
  if (recorded.api === "responses") return replayOf(machine, recorded.id, responsesScript(recorded));
  const transcript = transcriptOf(recorded, options.common ?? null);
  const replay = replayOf(machine, recorded.id, chatScript(recorded, options.common ?? null, transcript));
  const mayBeInexpressible = !isStrict(recorded) && isAsRecorded(recorded, transcript);
  return replay.outcome === "inexpressible" && !mayBeInexpressible ? { ...replay, outcome: "failed" } : replay;
};

/**
 * Performs a script. Only the recording decides whether it can be expressed, so that a fault of the machine never
 * counts as one of the recording.
 */
const replayOf = (machine: ConversationMachine, id: string, script: Script | Obstacle): CaseReplay => {
  const nothing = { driven: { calls: [], entries: [] }, figures: noFigures };
  const performed = "kind" in script ? { ...nothing, obstacle: script } : perform(machine, script);
  const { driven, figures, obstacle } = performed;
  return {
    id,
    outcome: obstacle === null ? "passed" : obstacle.kind === "inexpressible" ? "inexpressible" : "failed",
    difference: obstacle === null ? null : { step: obstacle.step, words: obstacle.words },
    figures,
    calls: driven.calls,
    entries: driven.entries,
    notes: "kind" in script ? [] : script.notes,
  };
};
