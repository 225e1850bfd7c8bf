import type { AskPart } from "../ask/parts.ts";
import type { ShownPart } from "./turn-parts.ts";

/** Returns parts as the text that a store keeps: of each its index, its offset, and the part. */
export const bodyOf = (parts: readonly ShownPart[]): string =>
  JSON.stringify(parts.map(({ part, place: { index, offset } }) => [index, offset, part]));

/**
 * Parses such a text. Parts of an unknown type are left out: a later version may have written them.
 *
 * @throws SyntaxError, TypeError for an invalid text
 */
export const partsIn = (body: string, epoch: number): readonly ShownPart[] => {
  const items: unknown = JSON.parse(body);
  if (!Array.isArray(items)) throw new TypeError("it is no list");
  return items.flatMap((item: unknown) => shownPartOf(item, epoch) ?? []);
};

const shownPartOf = (item: unknown, epoch: number): ShownPart | null => {
  if (!Array.isArray(item)) throw new TypeError("it has an item that is no list");
  // `Array.isArray` narrows to `any[]`.
  const [index, offset, part] = item as readonly unknown[];
  if (!isCount(index) || !isCount(offset) || !isPart(part)) throw new TypeError("it has an item that is no part");
  return part.type in knownTypes ? { part, place: { epoch, index, offset } } : null;
};

/** Returns a part from elsewhere; null if it is invalid, or of a type that this version does not know. */
export const partOf = (value: unknown): AskPart | null => (isPart(value) && value.type in knownTypes ? value : null);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/**
 * Checks the members that are read first. Parts that a host of this version wrote are valid; this detects foreign
 * texts.
 */
const isPart = (value: unknown): value is AskPart => {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") return false;
  if (!value.type.endsWith(".delta")) return true;
  return "text" in value ? typeof value.text === "string" : "arguments" in value && typeof value.arguments === "string";
};

const knownTypes: { readonly [Type in AskPart["type"]]: true } = {
  "turn.started": true,
  "step.started": true,
  "text.delta": true,
  "reasoning.delta": true,
  "refusal.delta": true,
  "toolCall.delta": true,
  toolCall: true,
  toolResult: true,
  "approval.requested": true,
  "step.ended": true,
  signal: true,
  "output.partial": true,
  "result.requested": true,
  "thread.forked": true,
  "wait.started": true,
  "wait.ended": true,
  "thread.lost": true,
  "replay.started": true,
  "parts.dropped": true,
  "turn.ended": true,
};
