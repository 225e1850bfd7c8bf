import type { Node } from "oxc-parser";

import { isFunction, programOf, type Source, walk } from "../../test/rules/source.ts";
import { marks } from "./messages.ts";
import type { Mutant } from "./mutations.ts";

/** A function of a file. */
export interface FunctionRange {
  /** `packages/machine/src/thread/turn.ts#3`: the file, and the function's number in it. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly body: { readonly start: number; readonly end: number; readonly isBlock: boolean };
}

/** The functions of a file, outer ones first. */
const functionsOf = (source: Source): readonly FunctionRange[] => {
  const functions: FunctionRange[] = [];
  walk(programOf(source), (node) => {
    const body = bodyOf(node);
    if (body === null) return;
    const name = `${source.path}#${functions.length}`;
    const isBlock = body.type === "BlockStatement";
    functions.push({
      name,
      start: node.start,
      end: node.end,
      body: { start: body.start, end: body.end, isBlock },
    });
  });
  return functions;
};

/** The innermost function that a mutant lies in; undefined when it runs as the file is loaded. */
export const functionAround = (source: Source, { start, end }: Mutant): FunctionRange | undefined =>
  functionsOf(source).findLast((each) => each.start <= start && end <= each.end);

/** A file's text, with a mutant if there is one, in which each function leaves its mark at `indexOf` its name. */
export const markedText = (
  source: Source,
  mutant: Pick<Mutant, "start" | "end" | "replacement"> | null,
  indexOf: (name: string) => number,
): string => {
  const kept = functionsOf(source).filter(({ body }) => mutant === null || !isCutBy(body, mutant));
  const edits = kept.flatMap(({ name, body }) => {
    const mark = `globalThis.${marks}[${indexOf(name)}]=1`;
    return body.isBlock
      ? [insertion(body.start + 1, `${mark};`, 0)]
      : [insertion(body.start, `(${mark},`, 0), insertion(body.end, ")", 2)];
  });
  const all = mutant === null ? edits : [...edits, { ...mutant, rank: 1 }];
  const inOrder = all.toSorted((one, other) => one.start - other.start || one.rank - other.rank);
  let text = "";
  let at = 0;
  for (const { start, end, replacement } of inOrder) {
    text += source.text.slice(at, start) + replacement;
    at = end;
  }
  return text + source.text.slice(at);
};

const bodyOf = (node: Node): Node | null =>
  // Each of the three kinds of function has a body, null where only its type is declared.
  isFunction(node) ? (node as Node & { readonly body: Node | null }).body : null;

/** Whether a mutant rewrites what a body lies in, so that its marks would be lost, or half of them. */
const isCutBy = (body: FunctionRange["body"], { start, end }: Pick<Mutant, "start" | "end">): boolean =>
  !(end <= body.start || body.end <= start || (body.start <= start && end <= body.end));

const insertion = (at: number, replacement: string, rank: number): Insertion => ({
  start: at,
  end: at,
  replacement,
  rank,
});

/** Text to put in; of those at one place the one with the least rank first. */
interface Insertion extends Pick<Mutant, "start" | "end" | "replacement"> {
  readonly rank: number;
}
