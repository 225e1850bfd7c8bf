import type { Effect } from "@colloquy/machine";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import * as Either from "fp-ts/lib/Either.js";
import { realSubject } from "../../arbitraries/subject.ts";
import { entriesOf, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, machinesFor, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks R5: a journal sent again requests the same effects: prompts with the recorded digests, under the same ids.
 * `replay`, which decides again, finds no difference and ends in the same state.
 */
export const replaying: MachineLaw = (options, schedule, subject = realSubject) => {
  // A random event may contain a digest of a prompt that was never sent, which is a true difference.
  const moves = schedule.moves.filter(({ move }) => move !== "reconfigure" && move !== "send");
  const isWhole = moves.length === schedule.moves.length;
  const trace = traceFor(options, isWhole ? schedule : { ...schedule, moves }, subject);
  const { machine } = machinesFor(options);
  let state = subject.start(machine, schedule.input).state;
  for (const [index, { event, transition }] of handledSteps(trace).entries()) {
    const again = subject.transition(machine, state, event);
    requireSame(
      "R5",
      `what handled ${stepNamed(index, event)} asks for`,
      digests(transition.effects),
      digests(again.effects),
    );
    state = again.state;
  }
  const replayed = replay(machine, entriesOf(trace));
  if (Either.isLeft(replayed))
    throw new LawBroken("R5", `replay finds a difference: ${describeDifference(replayed.left)}`);
  requireSame("R5", "the state after the replay", state, replayed.right);
};

const digests = (effects: readonly Effect[]): readonly object[] =>
  effects.flatMap((effect) => (effect.type === "callLlm" ? { id: effect.id, promptDigest: effect.promptDigest } : []));
