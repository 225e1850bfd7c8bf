import type { MessageDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
import { hasForeign } from "./foreign.ts";
import { Unreadable } from "./import-problem.ts";
import { defined } from "./json.ts";
import { pairResults } from "./pairing.ts";
import type { Loss, Piece, Reading } from "./reading.ts";

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

/** Converts what was read to turns of a thread. @throws Unreadable for the first error about calls and results */
export const importConversation = (
  { pieces, losses, irregularities }: Reading,
  { repair = false }: ImportOptions = {},
): Imported => {
  const paired = pairResults(pieces);
  const found = [...irregularities, ...paired.irregularities].sort(byIndex);
  const [first] = found;
  if (first !== undefined && !repair) throw new Unreadable(first.index, first.reason);
  const all = [...losses, ...found.map((irregularity) => irregularity.repair)];
  const [leading, ...rest] = paired.pieces;
  const draft = leading?.draft;
  // A message with parts that only its own format knows stays in its place.
  if (leading === undefined || draft === undefined || !isInstruction(draft) || hasForeign(draft.content))
    return { system: null, turns: turnsOf(paired.pieces), losses: all.sort(byIndex) };
  const why = "a thread's system prompt has none";
  if (draft.metadata !== undefined) all.push({ index: leading.index, path: "metadata", what: "metadata", why });
  return { system: systemDraft(draft), turns: turnsOf(rest), losses: all.sort(byIndex) };
};

const byIndex = (left: { readonly index: number }, right: { readonly index: number }): number =>
  left.index - right.index;

type Instruction = MessageDraft & { readonly role: "system" | "developer" };

const isInstruction = (draft: SeedDraft): draft is Instruction => draft.role === "system" || draft.role === "developer";

const systemDraft = ({ role, content, name, provider }: Instruction): SystemDraft =>
  role === "system" && typeof content === "string" && name === undefined && provider === undefined
    ? content
    : { role, content, ...defined({ name, provider }) };

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
    if (replied && isInstruction(draft)) {
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
