import {
  type Content,
  type ContentPart,
  contentText,
  type Json,
  type Message,
  type ToolCallPart,
  toolCallsOf,
  type ToolOutcome,
  type ToolResultPart,
  toolResultOf,
} from "@colloquy/machine";
import { notApproved, wellFormed } from "@colloquy/machine/hosting";

/** The id of the UI message that answers in a turn. */
export const messageIdOf = (turn: number): string => `turn-${turn}`;

/** The turn of such an id; null for another. */
export const turnIn = (messageId: string): number | null => {
  const [, turn] = /^turn-(\d+)$/u.exec(messageId) ?? [];
  return turn === undefined ? null : Number(turn);
};

/** A text of a model in a step; those of one kind that follow one another are one. */
export interface SaidText {
  readonly kind: "text" | "reasoning" | "refusal";
  text: string;
}

/** What a step of a turn comes to in a UI message. */
export interface Step {
  readonly said: readonly SaidText[];
  readonly calls: readonly ToolCallPart[];
}

/** The steps that messages of a turn show; replies that say nothing are none. */
export const stepsOf = (messages: readonly Message[]): readonly Step[] =>
  messages
    .filter(({ role, synthesised }) => role === "assistant" && synthesised !== true)
    .map((message) => ({ said: saidIn(message), calls: toolCallsOf(message) }))
    .filter(({ said, calls }) => said.length > 0 || calls.length > 0);

const saidIn = ({ parts }: Message): readonly SaidText[] => {
  const said: SaidText[] = [];
  for (const part of parts)
    if (part.type === "text" || part.type === "reasoning" || part.type === "refusal")
      addSaid(said, part.type, part.text);
  return said;
};

/** Adds a piece of text to what is said. */
export const addSaid = (said: SaidText[], kind: SaidText["kind"], text: string): void => {
  const last = said.at(-1);
  if (last?.kind === kind) last.text += text;
  else if (text !== "") said.push({ kind, text });
};

/** The results that messages have, by the ids of their calls. */
export const resultsOf = (messages: readonly Message[]): ReadonlyMap<string, ToolResultPart> =>
  new Map(messages.flatMap((message) => [toolResultOf(message) ?? []].flat().map((part) => [part.callId, part])));

/** Marks a text by which a model declined, as exports of UI messages do. */
export const metadataOf = (
  kind: SaidText["kind"],
): { readonly providerMetadata?: { readonly colloquy: { readonly refusal: true } } } =>
  kind === "refusal" ? { providerMetadata: { colloquy: { refusal: true } } } : {};

/** The arguments of a call as a value; the text itself where it is not JSON. */
export const inputOf = (written: string): Json => parsed(written) ?? written;

/** How a call ended, as UI messages tell it. */
export type Ended =
  | { readonly state: "output-available"; readonly output: Json }
  | { readonly state: "output-error"; readonly errorText: string }
  | { readonly state: "output-denied"; readonly reason: string | undefined };

/**
 * What a result is there. JSON is shown as its value: all of it where the page itself gave it (`contentOfOutput`), and an object
 * or a list that a tool returned, whose text alone a thread keeps.
 */
export const endedBy = (outcome: ToolOutcome, content: Content | null): Ended => {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  if (outcome === "completed") return { state: "output-available", output: outputOf(parts) };
  const errorText = contentText(parts);
  if (outcome !== "refused" || !errorText.startsWith(notApproved)) return { state: "output-error", errorText };
  const [, reason] = /^: (.*)$/su.exec(errorText.slice(notApproved.length)) ?? [];
  return { state: "output-denied", reason };
};

/** What a page gave as the output of a call, as a thread keeps it: a text, or JSON that says so, also of a text that looks like some. */
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
  // Parts are plain JSON, whose types say no more.
  if (only.type !== "text" || second !== undefined) return parts as readonly Json[] & readonly ContentPart[];
  if (only.provider?.["output"] === "json" || isLikeJson(only.text)) return parsed(only.text) ?? only.text;
  return only.text;
};

const parsed = (text: string): Json | undefined => {
  try {
    // What is parsed of a text is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
