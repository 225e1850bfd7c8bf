// Prints, as JSON by tarball, the problems in the types of packed packages' entry points. It runs in its own process,
// since the test runner's conditions would load the library's sources.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core";

const problemsOf = async (tarball: string): Promise<readonly unknown[]> => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  return "problems" in analysis
    ? analysis.problems.filter((problem) => !isOfModulesAlone(problem))
    : ["it has no types"];
};

/** These problems are intended: the packages have no CommonJS modules and need `exports`. */
const isOfModulesAlone = (problem: Problem): boolean =>
  problem.kind === "CJSResolvesToESM" || ("resolutionKind" in problem && problem.resolutionKind === "node10");

const found: Record<string, readonly unknown[]> = {};
for (const tarball of process.argv.slice(2)) found[basename(tarball)] = await problemsOf(tarball);
console.log(JSON.stringify(found));
