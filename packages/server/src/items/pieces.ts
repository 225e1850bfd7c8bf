import { type Message, type Part, toolResultOf, type ToolResultPart } from "@colloquy/machine";

/** A text that a model wrote in a reply. Consecutive texts of one kind are joined. */
export interface Piece {
  readonly kind: "text" | "reasoning" | "refusal";
  text: string;
}

/** Returns the text, reasoning and refusals of a reply. */
export const piecesOf = (parts: readonly Part[]): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (const part of parts)
    if (part.type === "text" || part.type === "reasoning" || part.type === "refusal")
      addPiece(pieces, part.type, part.text);
  return pieces;
};

/** Appends a text, joined with the last one if it is of the same kind. */
export const addPiece = (pieces: Piece[], kind: Piece["kind"], text: string): void => {
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += text;
  else if (text !== "") pieces.push({ kind, text });
};

export const resultsOf = (messages: readonly Message[]): ReadonlyMap<string, ToolResultPart> =>
  new Map(messages.flatMap((message) => [toolResultOf(message) ?? []].flat().map((part) => [part.callId, part])));
