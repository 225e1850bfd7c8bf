import { isOnPath } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnRange } from "./cut.ts";
import { type Places, unknownPlaceIn } from "./places.ts";
import type { PolicyDecision } from "./policy.ts";
import { frozenCopy } from "../thread/frozen.ts";
import { isCount, isObject } from "../thread/json.ts";
import { preview } from "../thread/preview.ts";
import { shortestShrink } from "./shrink.ts";

/**
 * Copies a policy's decision, so that the checked value is the used one. A promise is kept as it is, so that it can be
 * rejected; a copy would have no members.
 */
export const decisionCopy = <Value>(value: Value): Value => frozenCopy(value, (part) => part instanceof Promise);

/** The reason is journalled at every prompt. In UTF-16 units. */
export const longestReason = 200;

/** Returns what is invalid in a decision, or null. A policy in plain JavaScript may return anything. */
export const problemOfDecision = (decision: PolicyDecision, places: Places): string | null => {
  if (isPromise(decision)) return "it is a promise; decide must answer at once";
  if (typeof decision !== "object" || decision === null) return `it is ${preview(decision)}, not a decision`;
  const { from, dropped, summarised, shrink, fields, system, reason } = decision;
  if (from !== null && !isPosition(from)) return `from is ${preview(from)}`;
  if (typeof reason !== "string") return `its reason is ${preview(reason)}`;
  if (dropped !== undefined && !isTexts(dropped)) return `dropped is ${preview(dropped)}, not a list of ids`;
  if (system !== undefined && system !== "omit") return `system is ${preview(system)}`;
  if (shrink !== undefined) {
    if (!Array.isArray(shrink)) return `shrink is ${preview(shrink)}, not a list of rules`;
    const rules: readonly unknown[] = shrink;
    const wrong = rules.findIndex((rule) => !isRule(rule));
    if (wrong >= 0) return `shrink has ${preview(rules[wrong])}`;
  }
  if (fields !== undefined && !isFields(fields)) return `fields is ${preview(fields)}`;
  const unknown = unknownPlaceIn(decision, places);
  if (unknown !== null || summarised === undefined) return unknown;
  const range = problemOfRange(summarised, places.thread);
  if (range !== null) return range;
  return from !== null && summarised.to < from.turn
    ? null
    : `turns ${preview(summarised)} are to be shown as summaries and, from ${preview(from)} on, as they are`;
};

/** Returns what is invalid in a range of closed turns, or null. */
export const problemOfRange = (turns: TurnRange, thread: Thread): string | null => {
  if (typeof turns !== "object" || turns === null) return `${preview(turns)} is no range of turns`;
  const { from, to } = turns;
  if (!isCount(from) || !isCount(to) || from > to) return `${preview(turns)} is no range of turns`;
  const off = [from, to].find((turn) => turn > thread.turns.length || !isOnPath(thread, turn));
  return off === undefined ? null : `turn ${off} is not on the path`;
};

const isPromise = (value: unknown): boolean => isObject(value) && typeof value["then"] === "function";

const isRule = (rule: unknown): boolean => {
  if (!isObject(rule)) return false;
  const { rule: name, of, characters, before, tool } = rule;
  return (
    (name === "clear" ? before !== undefined : name === "headAndTail" || name === "reference") &&
    (of === "toolResults" || of === "messages") &&
    isCount(characters) &&
    characters >= shortestShrink &&
    (before === undefined || isPosition(before)) &&
    (tool === undefined || typeof tool === "string")
  );
};

const isFields = (fields: unknown): boolean =>
  isObject(fields) &&
  (fields["omit"] === undefined || isTexts(fields["omit"])) &&
  (fields["inputs"] === undefined || isTexts(fields["inputs"]));

const isPosition = (position: unknown): boolean =>
  isObject(position) && isCount(position["turn"]) && isCount(position["unit"]);

const isTexts = (texts: unknown): boolean => Array.isArray(texts) && texts.every((text) => typeof text === "string");
