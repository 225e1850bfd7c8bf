import { isOnPath } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnRange } from "./cut.ts";
import type { PolicyDecision } from "./policy.ts";
import { shortestShrink } from "./shrink.ts";

/** What a policy gave, read once and as plain data: what is looked at is then what is used. */
export const plainCopy = <Value>(value: Value): Value => copied(value) as Value; // A copy has the type of what it copies.

const copied = (value: unknown): unknown => {
  if (Array.isArray(value)) return Array.from(value, copied);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
};

/** It is journalled at every prompt. Unit: UTF-16 units. */
export const longestReason = 200;

/** What can't be meant in a decision, in words; null when all can. Whoever writes JavaScript may decide anything. */
export const nonsenseIn = (decision: PolicyDecision, thread: Thread): string | null => {
  if (typeof decision !== "object" || decision === null) return `it is ${String(decision)}, not a decision`;
  const { from, dropped, summarised, shrink, fields, system, reason } = decision;
  if (typeof reason !== "string") return `its reason is ${inJson(reason)}`;
  if (from !== null && !isPosition(from)) return `from is ${inJson(from)}`;
  if (dropped !== undefined && !isTexts(dropped)) return `dropped is ${inJson(dropped)}, not a list of ids`;
  if (system !== undefined && system !== "omit") return `system is ${inJson(system)}`;
  if (shrink !== undefined) {
    if (!Array.isArray(shrink)) return `shrink is ${inJson(shrink)}, not a list of rules`;
    const rules: readonly unknown[] = shrink;
    const wrong = rules.findIndex((rule) => !isRule(rule));
    if (wrong >= 0) return `shrink has ${inJson(rules[wrong])}`;
  }
  if (fields !== undefined && !isFields(fields)) return `fields is ${inJson(fields)}`;
  if (summarised === undefined) return null;
  const range = nonsenseInRange(summarised, thread);
  if (range !== null) return range;
  return from !== null && summarised.to < from.turn
    ? null
    : `turns ${inJson(summarised)} are to be shown as summaries and, from ${inJson(from)} on, as they are`;
};

/** What can't be meant in a range of closed turns. */
export const nonsenseInRange = (turns: TurnRange, thread: Thread): string | null => {
  if (typeof turns !== "object" || turns === null) return `${inJson(turns)} is no range of turns`;
  const { from, to } = turns;
  if (!isCount(from) || !isCount(to) || from > to) return `${inJson(turns)} is no range of turns`;
  const off = [from, to].find((turn) => turn > thread.turns.length || !isOnPath(thread, turn));
  return off === undefined ? null : `turn ${off} is not on the path`;
};

const isRule = (rule: unknown): boolean => {
  if (!isRecord(rule)) return false;
  const { rule: name, of, characters, before, tool } = rule;
  return (
    (name === "clear" ? before !== undefined : name === "headAndTail" || name === "reference") &&
    (of === "toolResults" || of === "messages") &&
    isCount(characters) &&
    Number(characters) >= shortestShrink &&
    (before === undefined || isPosition(before)) &&
    (tool === undefined || typeof tool === "string")
  );
};

const isFields = (fields: unknown): boolean =>
  isRecord(fields) &&
  (fields["omit"] === undefined || isTexts(fields["omit"])) &&
  (fields["inputs"] === undefined || isTexts(fields["inputs"]));

const isPosition = (position: unknown): boolean =>
  isRecord(position) && isCount(position["turn"]) && isCount(position["unit"]);

const isTexts = (texts: unknown): boolean => Array.isArray(texts) && texts.every((text) => typeof text === "string");

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null;

/** Total: what a policy gives may have no JSON. */
const inJson = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, longestReason);
  } catch {
    return `a ${typeof value}`;
  }
};
