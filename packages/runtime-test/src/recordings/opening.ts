import type { ConversationMachine, JsonObject, SeedDraft, SystemDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { CommonFile, RecordedChatCase } from "./case.ts";
import { type Drive, drive } from "./drive.ts";
import { type Drafted, seedDraft, systemDraft } from "./drafts.ts";
import { difference, inexpressible, type Obstacle } from "./obstacle.ts";
import { protocolProblemOf } from "./protocol.ts";
import { systemOf, type Transcript } from "./transcript.ts";

/** The beginning of a case's thread. */
export interface Opening {
  readonly driven: Drive;
  /** The first step that is not part of the seed. */
  readonly from: number;
}

/**
 * Begins the thread of a case, with its seed and the results that complete the seed's last round. Returns an obstacle
 * for a recording with a prompt that no machine sends.
 */
export const openCase = (
  machine: ConversationMachine,
  recorded: RecordedChatCase,
  common: CommonFile | null,
  transcript: Transcript,
): Opening | Obstacle => {
  if (recorded.system === "@common" && common === null)
    return difference(null, "the system prompt stands in the common file, which was not handed in");
  const from = Math.max(
    recorded.steps.findIndex(({ type }) => type !== "tool"),
    0,
  );
  const unsendable = problemOfPrompts(transcript) ?? problemOfSeed(transcript, from);
  if (unsendable !== null) return unsendable;
  const system = systemDraftOf(recorded, common);
  if (Either.isLeft(system)) return inexpressible(null, `the system message: ${system.left}`);
  const seed = seedOf(recorded, from);
  if (Either.isLeft(seed)) return inexpressible(null, `a message of the seed: ${seed.left}`);
  const driven = drive(machine, {
    threadId: recorded.id,
    ...(system.right === null ? {} : { system: system.right }),
    ...(seed.right.length === 0 ? {} : { seed: seed.right }),
  });
  return { driven, from };
};

/** Returns an obstacle if a recorded prompt is empty or splits a round, because a machine never sends such a prompt. */
const problemOfPrompts = (transcript: Transcript): Obstacle | null => {
  const messages = transcript.messages.map(({ message }) => message);
  for (const [k, length] of transcript.prompts.entries()) {
    if (length === 0) return inexpressible(null, `model call ${k} was sent nothing at all, which no machine sends`);
    const problem = protocolProblemOf(messages.slice(0, length));
    if (problem === null) continue;
    const step = transcript.messages[problem.index]?.step ?? null;
    return inexpressible(step, `model call ${k} was sent what no machine sends: ${problem.reason}`);
  }
  return null;
};

const problemOfSeed = (transcript: Transcript, from: number): Obstacle | null => {
  const seeded = transcript.messages.filter(({ step }) => step === null || step < from);
  const problem = protocolProblemOf(seeded.map(({ message }) => message));
  return problem === null ? null : inexpressible(null, `the seed is no conversation: ${problem.reason}`);
};

const systemDraftOf = (recorded: RecordedChatCase, common: CommonFile | null): Drafted<SystemDraft | null> => {
  const content = systemOf(recorded, common);
  return content === null ? Either.right(null) : systemDraft(recorded.system_role ?? "system", content);
};

const seedOf = (recorded: RecordedChatCase, from: number): Drafted<readonly SeedDraft[]> => {
  const led = recorded.steps
    .slice(0, from)
    .flatMap((step): JsonObject[] =>
      step.type === "tool" ? [{ role: "tool", tool_call_id: step.tool_call_id, content: step.content }] : [],
    );
  const seed: SeedDraft[] = [];
  for (const message of [...(recorded.seed ?? []), ...led]) {
    const draft = seedDraft(message);
    if (Either.isLeft(draft)) return draft;
    seed.push(draft.right);
  }
  return Either.right(seed);
};
