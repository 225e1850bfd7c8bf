import { posix } from "node:path";

import type { Node } from "oxc-parser";

import { isFunction, isModule, lineAt, programOf, type Rule, type Source, walk } from "./source.ts";
import { linksOf, packagesOf } from "./workspace.ts";

/** The most lines of a file. */
export const fileLinesMax = 400;

/** The most lines of a function. */
export const functionLinesMax = 70;

/** No file has more than `fileLinesMax` lines. */
export const filesAreShort: Rule = (sources) =>
  sources.filter(isProduct).flatMap((source) => {
    const lines = linesIn(source.text);
    return lines > fileLinesMax ? [`${source.path}: ${lines} lines, at most ${fileLinesMax}: split it by concept`] : [];
  });

/** No function has more than `functionLinesMax` lines. */
export const functionsAreShort: Rule = (sources) =>
  sources.filter(isProduct).flatMap((source) => {
    const found: string[] = [];
    walk(programOf(source), (node, ancestors) => {
      if (!isFunction(node)) return;
      const first = lineAt(source, node.start);
      const lines = lineAt(source, node.end) - first + 1;
      if (lines <= functionLinesMax) return;
      found.push(`${source.path}:${first}: ${nameOf(node, ancestors)} has ${lines} lines, at most ${functionLinesMax}`);
    });
    return found;
  });

/**
 * A file is a whole concept. A small one in a package has two importers there, is imported by an entry point, has a
 * reason, or would make its importer too long. Elsewhere a file has at least `fileLinesMin` lines.
 */
export const filesAreWhole: Rule = (sources) => {
  const small = sources
    .filter((source) => isProduct(source) && !source.path.startsWith("examples/"))
    .filter(({ path, text }) => linesIn(text) < (isOfPackage(path) ? smallLines : fileLinesMin))
    .filter(({ path }) => !isSmallForAReason(path));
  const packages = packagesOf(sources);
  const entries = new Set(packages.flatMap((each) => Object.values(each.entries)));
  const importers = new Map<string, Set<string>>();
  for (const source of sources.filter(isModule).filter(({ path }) => isOfPackage(path)))
    for (const { target } of linksOf(source, packages))
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(source.path));
  return small.flatMap(({ path, text }) => {
    if (linesIn(text) < fileLinesMin)
      return [`${path}: fewer than ${fileLinesMin} lines: join it to what it belongs to`];
    const [importer, other] = importers.get(path) ?? [];
    if (importer === undefined || other !== undefined || entries.has(importer)) return [];
    const whole = linesIn(text) + linesIn(sources.find((each) => each.path === importer)?.text ?? "");
    if (whole > fileLinesMax) return [];
    return [`${path}: fewer than ${smallLines} lines, and only ${importer} imports it: join them`];
  });
};

const linesIn = (text: string): number => text.trimEnd().split("\n").length;

const isOfPackage = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path);

/** The fewest lines of a file that is not an entry point, port, error or worker. */
export const fileLinesMin = 12;

/** A file of a package with fewer lines has two importers. */
const smallLines = 60;

const isSmallForAReason = (path: string): boolean => smallOnPurpose.some((pattern) => pattern.test(path));

const smallOnPurpose: readonly RegExp[] = [
  // Entry points: lists of what others may import.
  /\/index\.ts$/,
  /^packages\/[^/]+\/src\/[^/]+\.ts$/,
  // A port, or a type that many rooms need and that needs no room.
  /\/ports\/[^/]+\.ts$/,
  /^packages\/machine\/src\/thread\/json\.ts$/,
  /^bench\/peers\/peer\.ts$/,
  // The refusals of one server family, and one policy.
  /\/(?:families|policies)\/[^/]+\.ts$/,
  // An error class that many rooms throw.
  /-error\.ts$/,
  // The entry of a worker or a page, whose code is beside it.
  /\/(?:worker|page\/page)\.ts$/,
  // A single function: the entry point's default store, and the paging of all stores.
  /^packages\/runtime-node\/src\/stores\/(?:memory-store|pages)\.ts$/,
];

/** A file's name says what is in it. */
export const filesAreNamed: Rule = (sources) =>
  sources
    .filter((source) => isProduct(source) || source.path.includes("/test/") || source.path.startsWith("test/"))
    .filter(({ path }) => path.split("/").some((part) => sayNothing.test(posix.basename(part, ".ts"))))
    .map(({ path }) => `${path}: the name does not tell what is in it: name the concept`);

const sayNothing = /^(utils?|utilities|helpers?|misc|common|shared|stuff|lib)$/i;

const isProduct = (source: Source): boolean =>
  isModule(source) &&
  /^(packages\/[^/]+\/src|examples|scripts|proof|bench)\//.test(source.path) &&
  !source.path.endsWith(".test.ts");

const nameOf = (node: Node, ancestors: readonly Node[]): string => {
  if (node.type === "FunctionDeclaration" && node.id !== null) return node.id.name;
  const named = ancestors.findLast((each) => each.type === "VariableDeclarator");
  return named?.type === "VariableDeclarator" && named.id.type === "Identifier" ? named.id.name : "a function";
};
