import { isModule, type Rule } from "./source.ts";
import { linksOf, packagesOf } from "./workspace.ts";

/** No module imports itself indirectly, not even for types: a cycle can only be read as a whole. */
export const noImportCycles: Rule = (sources) => {
  const packages = packagesOf(sources);
  const edges = new Map<string, readonly string[]>(
    sources
      .filter(isModule)
      .map((source) => [source.path, linksOf(source, packages).flatMap(({ target }) => target ?? [])]),
  );
  return cyclesOf(edges).map((cycle) => `${cycle.join(" → ")}: a cycle; move what both need into a module below them`);
};

/** Returns a cycle for each edge back to a node that is still being visited. */
const cyclesOf = (edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const cycles: (readonly string[])[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const follow = (node: string): void => {
    const start = path.indexOf(node);
    if (start >= 0) cycles.push([...path.slice(start), node]);
    if (start >= 0 || done.has(node)) return;
    path.push(node);
    for (const next of edges.get(node) ?? []) follow(next);
    path.pop();
    done.add(node);
  };
  for (const node of edges.keys()) follow(node);
  return cycles;
};
