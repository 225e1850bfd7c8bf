import { type Fields } from "../cut.ts";
import { isOlder, newerOf } from "../unit.ts";
import type { PolicyDecision } from "../policy.ts";
import type { Shrink } from "../shrink.ts";

export type Shown = Omit<PolicyDecision, "reason" | "reasons">;

export const everything: Shown = { from: null };

/** Returns whether a decision shows the whole thread unchanged. */
export const isEverything = ({ from, dropped, summarised, shrink, fields, system }: Shown): boolean =>
  from === null && [dropped, summarised, shrink, fields, system].every((part) => part === undefined);

/** Returns whether two decisions have equal fields, so that they show the same. */
export const showsTheSame = (left: Shown, right: Shown): boolean => inJson(left) === inJson(right);

/** Merges a decision with a second one about what the first leaves. Nothing is shown that either leaves out. */
export const mergedDecision = (first: Shown, second: Shown): Shown => {
  const dropped = [...(first.dropped ?? []), ...(second.dropped ?? [])];
  const shrink = mergedRules(first.shrink ?? [], second.shrink ?? []);
  const summarised = second.summarised ?? first.summarised;
  const fields = mergedFields(first.fields, second.fields);
  const system = second.system ?? first.system;
  return {
    from: newerOf(first.from, second.from),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(summarised === undefined ? {} : { summarised }),
    ...(shrink.length === 0 ? {} : { shrink }),
    ...(fields === undefined ? {} : { fields }),
    ...(system === undefined ? {} : { system }),
    ...(first.pressed === true || second.pressed === true ? { pressed: true } : {}),
  };
};

/** Merges rules. A repeated rule has no effect, and one that only reaches further replaces the last. */
const mergedRules = (first: readonly Shrink[], second: readonly Shrink[]): readonly Shrink[] => {
  const rules = [...first];
  for (const rule of second) {
    if (rules.some((standing) => isAlike(standing, rule) && reachesAsFar(standing, rule))) continue;
    const last = rules.at(-1);
    if (last !== undefined && isAlike(last, rule)) rules.pop();
    rules.push(rule);
  }
  return rules;
};

const isAlike = (left: Shrink, right: Shrink): boolean =>
  left.rule === right.rule && left.of === right.of && left.characters === right.characters && left.tool === right.tool;

const reachesAsFar = ({ before }: Shrink, as: Shrink): boolean =>
  before === undefined || (as.before !== undefined && !isOlder(before, as.before));

const mergedFields = (first: Fields | undefined, second: Fields | undefined): Fields | undefined => {
  if (first === undefined || second === undefined) return first ?? second;
  const omit = [...new Set([...(first.omit ?? []), ...(second.omit ?? [])])];
  const inputs =
    first.inputs === undefined || second.inputs === undefined
      ? (first.inputs ?? second.inputs)
      : first.inputs.filter((field) => second.inputs?.includes(field));
  return { ...(omit.length === 0 ? {} : { omit }), ...(inputs === undefined ? {} : { inputs }) };
};

const inJson = ({ from, dropped = [], summarised, shrink = [], fields, system }: Shown): string =>
  JSON.stringify([
    from?.turn,
    from?.unit,
    dropped,
    summarised?.from,
    summarised?.to,
    shrink.map(({ rule, of, characters, before, tool }) => [rule, of, characters, before?.turn, before?.unit, tool]),
    fields?.omit,
    fields?.inputs,
    system,
  ]);
