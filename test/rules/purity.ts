import { isBuiltin } from "node:module";

import type { Node } from "oxc-parser";

import { importsOf, isFunction, isModule, lineAt, programOf, type Rule, type Source, walk } from "./source.ts";

/** Names of the environment that the machine must not use, each with the source to use instead. */
const environment: Readonly<Record<string, string>> = {
  Date: "time comes in on events",
  performance: "time comes in on events",
  crypto: "anything random comes in on events",
  fetch: "calling out is an effect",
  setTimeout: "waiting is an effect",
  setInterval: "waiting is an effect",
  setImmediate: "waiting is an effect",
  queueMicrotask: "waiting is an effect",
  console: "what an observer should know is a signal",
  process: "configuration is an argument",
  Buffer: "the machine runs in a browser as well",
  globalThis: "the machine uses nothing of its environment",
  Intl: "what depends on a locale differs from host to host",
};

/** Members whose result depends on the machine or the time. */
const members: Readonly<Record<string, string>> = {
  localeCompare: "what depends on a locale differs from host to host",
  toLocaleLowerCase: "what depends on a locale differs from host to host",
  toLocaleUpperCase: "what depends on a locale differs from host to host",
  toLocaleString: "what depends on a locale differs from host to host",
};

/** Classes whose objects could hold state between two calls. */
const collections: ReadonlySet<string> = new Set(["Map", "Set", "WeakMap", "WeakSet"]);

/** The machine has no clock, no randomness, no input and no output. */
export const machineIsPure: Rule = (sources) =>
  findings(sources, "packages/machine/src/", (node, ancestors) => {
    const parent = ancestors.at(-1);
    if (node.type !== "Identifier") return undefined;
    if (isMember(node, parent)) {
      if (node.name === "random" && objectName(parent) === "Math")
        return "Math.random: anything random comes in on events";
      return reason(members, node.name);
    }
    // Graphemes hardly depend on a locale, and the place of a cut is journalled.
    if (node.name === "Intl" && memberName(parent) === "Segmenter") return undefined;
    return isKey(node, parent) ? undefined : reason(environment, node.name);
  });

/** Returns whether a node is a field of each instance. */
const isOfAnInstance = (node: Node): boolean => node.type === "PropertyDefinition" && !node.static;

/** The machine keeps nothing between two calls: no variable and no collection outside its functions. */
export const machineHoldsNoState: Rule = (sources) =>
  findings(sources, "packages/machine/src/", (node, ancestors) => {
    if (ancestors.some((ancestor) => isFunction(ancestor) || isOfAnInstance(ancestor))) return undefined;
    if (node.type === "VariableDeclaration" && node.kind !== "const") {
      return `a module-level ${node.kind}: state lives in the conversation, use const`;
    }
    if (node.type === "NewExpression" && node.callee.type === "Identifier" && collections.has(node.callee.name)) {
      return `a module-level new ${node.callee.name}: use a frozen object or a list`;
    }
    return undefined;
  });

/** The machine uses no `any`. */
export const machineHasNoAny: Rule = (sources) =>
  findings(sources, "packages/machine/src/", (node) =>
    node.type === "TSAnyKeyword" ? "any: name the type, or use unknown and parse it" : undefined,
  );

/** Machine and host use nothing of Node. */
export const nothingOfNodeBelowTheRuntimes: Rule = (sources) =>
  sources
    .filter(({ path }) => /^packages\/(machine|host)\/src\//.test(path))
    .filter(isModule)
    .flatMap((source) =>
      importsOf(source)
        .filter(({ specifier }) => isBuiltin(specifier))
        .map(({ specifier, line }) => `${source.path}:${line}: ${specifier} is Node's: hand it in from a runtime`),
    );

/** Returns which of these names a module may take from its environment. It ignores the module's own declarations. */
export const namesUsed = (source: Source, names: readonly string[]): readonly string[] => {
  const used = new Set<string>();
  walk(programOf(source), (node, ancestors) => {
    const parent = ancestors.at(-1);
    if (node.type !== "Identifier" || !names.includes(node.name)) return;
    if (!isMember(node, parent) && !isKey(node, parent)) used.add(node.name);
  });
  return [...used];
};

const findings = (
  sources: readonly Source[],
  folder: string,
  judge: (node: Node, ancestors: readonly Node[]) => string | undefined,
): readonly string[] =>
  sources
    .filter((source) => isModule(source) && source.path.startsWith(folder))
    .flatMap((source) => {
      const found: string[] = [];
      walk(programOf(source), (node, ancestors) => {
        const objection = judge(node, ancestors);
        if (objection !== undefined) found.push(`${source.path}:${lineAt(source, node.start)}: ${objection}`);
      });
      return found;
    });

const reason = (table: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(table, name) ? `${name}: ${table[name]}` : undefined;

const isMember = (node: Node, parent: Node | undefined): boolean =>
  parent?.type === "MemberExpression" && parent.property === node && !parent.computed;

const objectName = (parent: Node | undefined): string | undefined =>
  parent?.type === "MemberExpression" && parent.object.type === "Identifier" ? parent.object.name : undefined;

const memberName = (parent: Node | undefined): string | undefined =>
  parent?.type === "MemberExpression" && parent.property.type === "Identifier" ? parent.property.name : undefined;

/** Returns whether an identifier only names a member of an object or type. */
const isKey = (node: Node, parent: Node | undefined): boolean => {
  switch (parent?.type) {
    case "Property":
    case "PropertyDefinition":
    case "MethodDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
      return parent.key === node && !parent.computed;
    default:
      return false;
  }
};
