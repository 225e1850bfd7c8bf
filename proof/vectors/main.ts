// Holds the machine in TypeScript and, where there is a python3, the one in Python to the vectors, and says whether
// they show all that they have to. Exits with 1 if one of them differs. `--write` writes the machine's present outcomes
// into the existing files; `--draw` chooses the drawn ones again; `--show` prints one for a reader.
import { traceOf } from "@colloquy/runtime-test";

import { runCommand } from "../kit/command.ts";
import { flag, type Option, whole } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { problemOfFile } from "./check.ts";
import { coverageOf } from "./coverage.ts";
import { faults } from "./fault-list.ts";
import { uncaughtFaults } from "./faults.ts";
import { type VectorFile, vectorFiles, writeVectors } from "./files.ts";
import { journalVectorOf } from "./journal-vector.ts";
import { journalScripts } from "./journals.ts";
import { pythonProblems } from "./python.ts";
import { machineOf } from "./machine.ts";
import { vectorOf } from "./record.ts";
import { drawnSet, presentScripts, writtenScripts } from "./set.ts";
import type { Script, Vector } from "./vector.ts";

const playedOf = (files: readonly VectorFile[]): readonly Vector[] =>
  files.flatMap(({ vector }) => (vector.profile === "journals" ? [] : [vector]));

/** Those written by hand as they are now, and the drawn ones that there are. */
const scriptsNow = (): readonly Script[] => {
  const written = writtenScripts();
  const names = new Set(written.map(({ name }) => name));
  return [...written, ...presentScripts().filter(({ name }) => !names.has(name))];
};

/** A conversation as text for a reader: each event above a line, its outcome below. */
const traceOfScript = ({ machine, start, steps }: Script): string => {
  if (steps.some((step) => step.machine !== undefined))
    throw new RangeError("its configuration changes on the way, which a text for readers can't show");
  return traceOf(
    machineOf(machine),
    steps.flatMap(({ says, event }) => (says === undefined ? [event] : [says, event])),
    start,
  );
};

const write = (scripts: readonly Script[]): void =>
  writeVectors([...scripts.map(vectorOf), ...journalScripts().map(journalVectorOf)]);

const problemsOfSet = (files: readonly VectorFile[]): readonly string[] => {
  const expected = [...writtenScripts(), ...journalScripts()].map(({ name }) => name);
  const names = files.map(({ vector }) => vector.name);
  return [
    ...expected.filter((name) => !names.includes(name)).map((name) => `${name} has no file: pnpm vectors --write`),
    ...coverageOf(playedOf(files)).missing.map((arrow) => `no vector shows: ${arrow}`),
  ];
};

const show: Option<string | null> = {
  kind: "value",
  placeholder: "NAME",
  about: "print the conversation of this file as a text to read, and do nothing else",
  read: (given) => given.at(-1) ?? null,
};

await runCommand({
  name: "vectors",
  options: {
    show,
    write: flag("write what the machine does now into the files"),
    faults: whole(0, "also put the first N of 20 faults into the machine, each of which a vector has to catch", {
      least: 0,
      most: faults.length,
    }),
    draw: flag("choose the drawn ones anew, which takes a minute, and write all"),
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
    else if (rewrites) write(scriptsNow());
    const files = vectorFiles();
    const problems = files.flatMap(({ file, vector }) => {
      const problem = problemOfFile(vector);
      return problem === null ? [] : [`${file}: ${problem}`];
    });
    const python = pythonProblems(files.map(({ file }) => file));
    const ofPython = [...(python ?? [])].flatMap(([file, problem]) =>
      problem === null ? [] : [`in Python, ${file}: ${problem}`],
    );
    const { features } = coverageOf(playedOf(files));
    console.log(
      `TypeScript: ${files.length - problems.length} of ${count(files.length, "vector")} pass, which show ${count(features.size, "feature")}`,
    );
    console.log(
      python === null
        ? "Python: left out, there is no python3 or no vectors/python/run.py"
        : `Python: ${files.length - ofPython.length} of ${count(files.length, "vector")} pass: core is played, policies are folded, journals are read`,
    );
    const uncaught = faultCount === 0 ? [] : await uncaughtFaults(faultCount);
    if (faultCount > 0) console.log(`Faults: ${faultCount - uncaught.length} of ${faultCount} are caught by a vector`);
    console.log(`in ${seconds()} s`);
    printViolations([...problemsOfSet(files), ...problems, ...ofPython, ...uncaught]);
  },
});
