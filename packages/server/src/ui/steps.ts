import {
  type Content,
  type ContentPart,
  contentText,
  type Json,
  type Message,
  type ToolCallPart,
  toolCallsOf,
  type ToolOutcome,
} from "@colloquy/machine";
import { notApproved, wellFormed } from "@colloquy/machine/hosting";
import { type Piece, piecesOf } from "../items/pieces.ts";

/** Returns the id of the UI message that answers in a turn. */
export const messageIdOf = (turn: number): string => `turn-${turn}`;

/** Reads the turn from such an id; returns null for any other id. */
export const turnIn = (messageId: string): number | null => {
  const [, turn] = /^turn-([1-9]\d*)$/u.exec(messageId) ?? [];
  return turn === undefined ? null : Number(turn);
};

export interface Step {
  readonly said: readonly Piece[];
  readonly calls: readonly ToolCallPart[];
}

/** Returns the steps of a turn's messages; empty replies are left out. */
export const stepsOf = (messages: readonly Message[]): readonly Step[] =>
  messages
    .filter(({ role, synthesised }) => role === "assistant" && synthesised !== true)
    .map((message) => ({ said: piecesOf(message.parts), calls: toolCallsOf(message) }))
    .filter(({ said, calls }) => said.length > 0 || calls.length > 0);

/** Marks the text of a refusal, as exports of UI messages do. */
export const metadataOf = (
  kind: Piece["kind"],
): { readonly providerMetadata?: { readonly colloquy: { readonly refusal: true } } } =>
  kind === "refusal" ? { providerMetadata: { colloquy: { refusal: true } } } : {};

/** Parses the arguments of a call; returns the text itself if it is not JSON. */
export const inputOf = (written: string): Json => parsed(written) ?? written;

/** The end of a call, in the terms of UI messages. */
export type Ended =
  | { readonly state: "output-available"; readonly output: Json }
  | { readonly state: "output-error"; readonly errorText: string }
  | { readonly state: "output-denied"; readonly reason: string | undefined };

/** Converts a result. Marked JSON of a page, and an object or list of a tool, are shown as their value. */
export const endedBy = (outcome: ToolOutcome, content: Content | null): Ended => {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  if (outcome === "completed") return { state: "output-available", output: outputOf(parts) };
  const errorText = contentText(parts);
  if (outcome !== "refused" || !errorText.startsWith(notApproved)) return { state: "output-error", errorText };
  const [, reason] = /^: (.*)$/su.exec(errorText.slice(notApproved.length)) ?? [];
  return { state: "output-denied", reason };
};

/** Converts a page's output of a call: to a text, or to JSON that is marked as such. */
export const contentOfOutput = (output: unknown): Content | null => {
  if (output === undefined || output === null) return null;
  return typeof output === "string" && !isLikeJson(output)
    ? output
    : [{ type: "text", text: JSON.stringify(wellFormed(output)), provider: { output: "json" } }];
};

const isLikeJson = (text: string): boolean => /^\s*[[{]/u.test(text);

const outputOf = (parts: readonly ContentPart[]): Json => {
  const [only, second] = parts;
  if (only === undefined) return null;
  // Content parts are plain JSON, though their types do not say so.
  if (only.type !== "text" || second !== undefined) return parts as readonly Json[] & readonly ContentPart[];
  if (only.provider?.["output"] === "json" || isLikeJson(only.text)) return parsed(only.text) ?? only.text;
  return only.text;
};

const parsed = (text: string): Json | undefined => {
  try {
    // JSON.parse returns only JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
