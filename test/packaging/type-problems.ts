// Prints, as JSON and by the names of tarballs, what is wrong with the types of the entry points of packed packages. A
// process of its own: a test runner has conditions by which the library's sources are loaded.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core";

const problemsOf = async (tarball: string): Promise<readonly unknown[]> => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  return "problems" in analysis
    ? analysis.problems.filter((problem) => !isOfModulesAlone(problem))
    : ["it has no types"];
};

/** These problems are meant: there are no CommonJS modules, and no resolution from before there were `exports`. */
const isOfModulesAlone = (problem: Problem): boolean =>
  problem.kind === "CJSResolvesToESM" || ("resolutionKind" in problem && problem.resolutionKind === "node10");

const found: Record<string, readonly unknown[]> = {};
for (const tarball of process.argv.slice(2)) found[basename(tarball)] = await problemsOf(tarball);
console.log(JSON.stringify(found));
