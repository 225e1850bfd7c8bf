import * as Either from "fp-ts/lib/Either.js";
import type { MessageDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
import { hasForeign } from "./foreign.ts";
import type { ImportProblem } from "./import-problem.ts";
import type { Loss } from "./loss.ts";
import { pairResults } from "./pairing.ts";
import type { Piece, Reading } from "./piece.ts";

/** An imported conversation: its system prompt, and the messages of a `turn.added` event for each turn. */
export interface Imported {
  /** The `system` of `start`, or of `system.changed`. */
  readonly system: SystemDraft | null;
  /** A turn begins with a user's message. Leading messages of others form their own turn. */
  readonly turns: readonly (readonly SeedDraft[])[];
  /** Everything that was left out or repaired, by item. Empty if the conversation is unchanged. */
  readonly losses: readonly Loss[];
}

export interface ImportOptions {
  /**
   * Repairs what can be repaired without guessing, and reports it in `losses`. A late result is moved to its call. A
   * result without a call, or a second one, is left out. A call without a result gets one that says so. By default
   * (false) these are errors.
   */
  readonly repair?: boolean;
}

/** Converts what was read to turns of a thread, or returns the first error about calls and results. */
export const importConversation = (
  { pieces, losses, irregularities }: Reading,
  { repair = false }: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => {
  const paired = pairResults(pieces);
  const found = [...irregularities, ...paired.irregularities].sort((left, right) => left.index - right.index);
  const [first] = found;
  if (first !== undefined && !repair) return Either.left({ index: first.index, reason: first.reason });
  const all = [...losses, ...found.map((irregularity) => irregularity.repair)];
  const [leading, ...rest] = paired.pieces;
  const system = leading === undefined ? null : leadingSystem(leading);
  if (leading === undefined || system === null)
    return Either.right({ system: null, turns: turnsOf(paired.pieces), losses: sorted(all) });
  const metadata = system.metadata === undefined ? [] : [lostMetadata(leading)];
  return Either.right({ system: systemDraft(system), turns: turnsOf(rest), losses: sorted([...all, ...metadata]) });
};

/**
 * Returns the first message if it is a system prompt. A message with parts that only its own format knows stays in its
 * place.
 */
const leadingSystem = ({ draft }: Piece): SystemMessage | null =>
  (draft.role === "system" || draft.role === "developer") && !hasForeign(draft.content)
    ? { ...draft, role: draft.role }
    : null;

type SystemMessage = MessageDraft & { readonly role: "system" | "developer" };

const systemDraft = ({ role, content, name, provider }: SystemMessage): SystemDraft =>
  role === "system" && typeof content === "string" && name === undefined && provider === undefined
    ? content
    : {
        role,
        content,
        ...(name === undefined ? {} : { name }),
        ...(provider === undefined ? {} : { provider }),
      };

const lostMetadata = ({ index }: Piece): Loss => ({
  index,
  path: "metadata",
  what: "metadata",
  why: "a thread's system prompt has none",
});

/**
 * Splits messages into turns. A turn ends before the next user message after a model's. Instructions after
 * a reply belong to the turn of the next message.
 */
const turnsOf = (pieces: readonly Piece[]): readonly (readonly SeedDraft[])[] => {
  const turns: SeedDraft[][] = [];
  let turn: SeedDraft[] = [];
  let instructions: SeedDraft[] = [];
  let replied = false;
  for (const { draft, opensNoTurn } of pieces) {
    if (replied && (draft.role === "system" || draft.role === "developer")) {
      instructions.push(draft);
      continue;
    }
    if (replied && draft.role === "user" && opensNoTurn !== true) {
      turns.push(turn);
      turn = [];
      replied = false;
    }
    turn.push(...instructions, draft);
    instructions = [];
    replied ||= draft.role === "assistant";
  }
  turn.push(...instructions);
  return turn.length === 0 ? turns : [...turns, turn];
};

const sorted = (losses: readonly Loss[]): readonly Loss[] => losses.toSorted((left, right) => left.index - right.index);
