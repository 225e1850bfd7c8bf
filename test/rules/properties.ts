import type { Node } from "oxc-parser";

import { importsOf, isModule, lineAt, type Rule, type Source, programOf, walk } from "./source.ts";
import { linksOf, packagesOf } from "./workspace.ts";

/**
 * Properties draw from the seed of the run, which `test/setup.ts` sets; none draws its own. A literal seed is allowed,
 * for tests of a certain sample.
 */
export const propertiesKeepTheSeed: Rule = (sources) =>
  sources.filter((source) => isModule(source) && isTest(source) && !saysForAll.has(source.path)).flatMap(problemsIn);

/** Returns the tests that check a property, themselves or by their imports. */
export const testsOfProperties = (sources: readonly Source[]): readonly string[] => {
  const packages = packagesOf(sources);
  const modules = sources.filter(isModule).map((source) => ({
    path: source.path,
    itself: importsOf(source).some(({ typeOnly, specifier }) => !typeOnly && propertyLibrary.test(specifier)),
    targets: linksOf(source, packages).flatMap(({ typeOnly, target }) => (typeOnly ? [] : [target])),
  }));
  const found = new Set(modules.filter(({ itself }) => itself).map(({ path }) => path));
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { path, targets } of modules) {
      if (targets.some((target) => target !== undefined && found.has(target))) found.add(path);
    }
  }
  return [...found].filter((path) => path.endsWith(".test.ts") && !path.endsWith(".long.test.ts")).toSorted();
};

const setup = "test/setup.ts";

/**
 * The only files that may set what all properties share. A browser's page loads no setup, so it sets this itself.
 */
const saysForAll: ReadonlySet<string> = new Set([
  setup,
  "test/shrinking.ts",
  "packages/runtime-browser/test/chromium/contract-page.ts",
]);

const propertyLibrary = /^(@fast-check\/vitest|fast-check)$/;

const isTest = ({ path }: Source): boolean => /^(packages\/[^/]+\/test|test|examples)\//.test(path);

const problemsIn = (source: Source): readonly string[] => {
  const problems: string[] = [];
  walk(programOf(source), (node) => {
    const problem = problemOf(node);
    if (problem !== null) problems.push(`${source.path}:${lineAt(source, node.start)} ${problem}`);
  });
  return problems;
};

const problemOf = (node: Node): string | null => {
  if (node.type === "MemberExpression" && memberOf(node) === "random" && nameOf(node.object) === "Math")
    return "Math.random: the run would be another each time";
  if (node.type !== "CallExpression") return null;
  const called = memberOf(node.callee) ?? nameOf(node.callee) ?? "";
  if (called === "configureGlobal" || called === "resetConfigureGlobal" || called === "installGlobalPlugin")
    return `${called}: only ${setup} says what all properties share`;
  if (!draws.has(called)) return null;
  const drawn = node.arguments.flatMap((each) => (each.type === "ObjectExpression" ? each.properties : []));
  const seed = drawn.find((each) => each.type === "Property" && nameOf(each.key) === "seed");
  if (seed === undefined || (seed.type === "Property" && seed.value.type === "Literal")) return null;
  return `a seed of its own: leave it out, and ${setup} gives the seed of the run`;
};

/** The members of fast-check and `@fast-check/vitest` that take a seed. */
const draws: ReadonlySet<string> = new Set(["assert", "check", "sample", "statistics", "prop"]);

const memberOf = (node: Node): string | null => (node.type === "MemberExpression" ? nameOf(node.property) : null);

const nameOf = (node: Node): string | null => (node.type === "Identifier" ? node.name : null);
