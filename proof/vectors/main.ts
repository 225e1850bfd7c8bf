// Checks the machine in TypeScript and, if there is a python3, the one in Python against the vectors, and checks that
// the vectors show all features. Exits with 1 on a difference. `--write` writes the machine's present outcomes into the
// existing files; `--draw` chooses the drawn ones again; `--show` prints one for a reader.
import { traceOf } from "@colloquy/runtime-test";

import { runCommand } from "../kit/command.ts";
import { flag, text, whole } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { problemOfFile } from "./check.ts";
import { coverageOf } from "./coverage.ts";
import { faults } from "./fault-list.ts";
import { uncaughtFaults } from "./faults.ts";
import { formatsProblem, type VectorFile, vectorFiles, writeVectors } from "./files.ts";
import { journalVectorOf } from "./journal-vector.ts";
import { pythonProblems } from "./python.ts";
import { machineOf } from "./machine.ts";
import { vectorOf } from "./record.ts";
import { drawnSet, journalScripts, presentScripts } from "./set.ts";
import type { Script, Vector } from "./vector.ts";

const playedOf = (files: readonly VectorFile[]): readonly Vector[] =>
  files.flatMap(({ vector }) => (vector.profile === "journals" ? [] : [vector]));

/** Formats a conversation for a reader: each event above a line, its outcome below. */
const traceOfScript = ({ machine, start, steps }: Script): string => {
  if (steps.some((step) => step.machine !== undefined))
    throw new RangeError("its configuration changes on the way, which --show can't print");
  return traceOf(
    machineOf(machine),
    steps.flatMap(({ says, event }) => (says === undefined ? [event] : [says, event])),
    start,
  );
};

const write = (scripts: readonly Script[]): void =>
  writeVectors([...scripts.map(vectorOf), ...journalScripts().map(journalVectorOf)]);

await runCommand({
  name: "vectors",
  options: {
    show: text("NAME", "only print the conversation of this file for a reader"),
    write: flag("write the machine's present outcomes into the files"),
    faults: whole(0, "also build the first N of 20 faults into the machine, each of which a vector must catch", {
      least: 0,
      most: faults.length,
    }),
    draw: flag("choose the drawn ones again, which takes a minute, and write all"),
  },
  run: async ({ show: shown, write: rewrites, draw, faults: faultCount }) => {
    if (shown !== null) {
      const script = presentScripts().find(({ name }) => name === shown);
      if (script === undefined)
        throw new RangeError(`--show is "${shown}"; give the name of a file of core or policies`);
      console.log(traceOfScript(script));
      return;
    }
    const seconds = stopwatch();
    if (draw) write(drawnSet());
    else if (rewrites) write(presentScripts());
    const files = vectorFiles();
    const problems = files.flatMap(({ file, vector }) => {
      const problem = problemOfFile(vector);
      return problem === null ? [] : [`${file}: ${problem}`];
    });
    const python = pythonProblems(files.map(({ file }) => file));
    const ofPython = [...(python ?? [])].flatMap(([file, problem]) =>
      problem === null ? [] : [`in Python, ${file}: ${problem}`],
    );
    const { features, missing } = coverageOf(playedOf(files));
    console.log(
      `TypeScript: ${files.length - problems.length} of ${count(files.length, "vector")} pass, and show ${count(features.size, "feature")}`,
    );
    console.log(
      python === null
        ? "Python: left out, there is no python3 or no vectors/python/run.py"
        : `Python: ${files.length - ofPython.length} of ${count(files.length, "vector")} pass: core is played, policies are folded, journals are read`,
    );
    const uncaught = faultCount === 0 ? [] : await uncaughtFaults(faults.slice(0, faultCount));
    if (faultCount > 0) console.log(`Faults: ${faultCount - uncaught.length} of ${faultCount} are caught by a vector`);
    console.log(`in ${seconds()} s`);
    const unseen = missing.map((arrow) => `no vector shows: ${arrow}`);
    printViolations([...formatsProblem(), ...unseen, ...problems, ...ofPython, ...uncaught]);
  },
});
