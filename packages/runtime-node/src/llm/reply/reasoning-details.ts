import type { Json, JsonObject } from "@colloquy/machine";
import { isObject } from "./loose-json.ts";

/**
 * Adds streamed `reasoning_details` to those that came before. Pieces of one text (or summary) become one detail,
 * with whatever the later pieces bring (a signature); encrypted ones stay as they are.
 */
export const mergedDetails = (before: readonly Json[], added: readonly Json[]): readonly Json[] => {
  const details = [...before];
  for (const detail of added) {
    const last = details.at(-1);
    if (isObject(last) && isObject(detail) && continues(last, detail))
      details[details.length - 1] = merged(last, detail);
    else details.push(detail);
  }
  return details;
};

const continues = (last: JsonObject, detail: JsonObject): boolean =>
  (detail["type"] === "reasoning.text" || detail["type"] === "reasoning.summary") &&
  last["type"] === detail["type"] &&
  last["index"] === detail["index"] &&
  (last["id"] ?? detail["id"] ?? null) === (detail["id"] ?? last["id"] ?? null);

const merged = (last: JsonObject, detail: JsonObject): JsonObject => {
  const whole: { [member: string]: Json | undefined } = { ...last };
  for (const [member, value] of Object.entries(detail)) {
    const before = whole[member];
    const grows = member === "text" || member === "summary";
    if (grows && typeof value === "string" && typeof before === "string") whole[member] = before + value;
    else if (value !== undefined && value !== null) whole[member] = value;
  }
  return whole;
};
