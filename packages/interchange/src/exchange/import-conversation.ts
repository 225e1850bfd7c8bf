import * as Either from "fp-ts/lib/Either.js";
import type { MessageDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
import { hasForeign } from "./foreign.ts";
import type { ImportProblem } from "./import-problem.ts";
import type { Loss } from "./loss.ts";
import { pairResults } from "./pairing.ts";
import type { Piece, Reading } from "./piece.ts";

/** A conversation of another format, as events of a thread: its system prompt, and each turn as the messages of a `turn.added`. */
export interface Imported {
  /** As a thread starts with it (`system` of `start`), or as it is changed (`system.changed`). */
  readonly system: SystemDraft | null;
  /** A turn begins with what a user said; an opening that is not a user's is a turn of its own. */
  readonly turns: readonly (readonly SeedDraft[])[];
  /** What was left out or mended, by item. Empty when the conversation is as it was. */
  readonly losses: readonly Loss[];
}

export interface ImportOptions {
  /**
   * Mend what can be mended without guessing, and say so in `losses`: a result that comes late is moved to its call, one
   * without a call or a second one is left out, a call without a result gets one that says so. Else (the default) these
   * are problems.
   */
  readonly repair?: boolean;
}

/** What was read, as turns that a thread takes; or the first thing about calls and results that is not as it must be. */
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

/** The message that leads, when it is a system prompt. What only its own format can read stays in its place. */
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
 * A turn goes to the next user's message after a model's. Instructions between them belong to the turn that they were
 * given for.
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
