import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { differenceOf } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";

import { problemOfFile } from "../../../proof/vectors/check.ts";
import { coverageOf } from "../../../proof/vectors/coverage.ts";
import { printed, root, type VectorFile, vectorFiles } from "../../../proof/vectors/files.ts";
import { played, scriptOf, vectorOf } from "../../../proof/vectors/record.ts";
import type { StatePatch, Vector } from "../../../proof/vectors/vector.ts";

const files = vectorFiles();
const conversations = files.flatMap(({ vector }) => (vector.profile === "journals" ? [] : [vector]));

const namedIn = (name: string): VectorFile["vector"] => {
  const found = files.find(({ vector }) => vector.name === name);
  if (found === undefined) throw new Error(`there is no vector ${name}`);
  return found.vector;
};

describe("the vectors", () => {
  test("they take each arrow that can be taken", () => {
    expect(coverageOf(conversations).missing).toEqual([]);
  });

  test("a file that is written by hand has the events of its steps, and options that are not the defaults", () => {
    const queue = namedIn("queue") as Vector;
    const { tools, overlap, policy } = queue.machine;
    // Cast: a file gives it so.
    const byHand = { ...queue, machine: { tools, overlap, policy }, steps: queue.steps.slice(1) } as unknown as Vector;
    expect(vectorOf(scriptOf(byHand)).steps).toEqual(queue.steps);
  });

  test("they are few and small, and stand in files as they are printed", () => {
    const texts = printed(files.map(({ vector }) => vector));
    const bytes = [...texts.keys()].reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
    expect(files.length).toBeLessThanOrEqual(340);
    expect(bytes).toBeLessThanOrEqual(4.75 * 1024 * 1024);
    const others = [...texts].filter(([file, text]) => readFileSync(join(root, file), "utf8") !== text);
    expect(others.map(([file]) => file)).toEqual([]);
  });

  test.each([
    ["simple-answer", (text: string) => text.replace('"Paris."', '"Rome."')],
    ["parallel-tools", (text: string) => text.replaceAll('"started":true', '"started":false')],
    ["fork-of-a-turn", (text: string) => text.replace('"threadId":"copy"', '"threadId":"other"')],
    ["refused-gap", (text: string) => text.replace('"sequence"', '"shape"')],
    ["redaction-of-a-turn", (text: string) => text.replace('"[redacted]"', '"kept"')],
  ])("a change of %s is noticed", (name, change) => {
    const text = JSON.stringify(namedIn(name));
    // Cast: a file gives it so.
    const changed = JSON.parse(change(text)) as VectorFile["vector"];
    expect(JSON.stringify(changed)).not.toBe(text);
    expect(problemOfFile(changed)).not.toBeNull();
  });
});

describe("the state of a step", () => {
  test("is that before it with what changed, as the page says", () => {
    const problems = conversations.flatMap((vector) => {
      const problem = problemOfPatches(vector);
      return problem === null ? [] : [`${vector.name}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });
});

type Members = Record<string, unknown>;

const problemOfPatches = (vector: Vector): string | null => {
  const [first, ...steps] = vector.steps;
  const state = structuredClone(first.state) as unknown as { value: unknown; context: Members };
  const states = played(scriptOf(vector)).steps.map(({ answer }) => answer.state);
  for (const [index, step] of steps.entries()) {
    if ("state" in step) apply(step.state, state);
    const difference = differenceOf(JSON.parse(JSON.stringify(states[index])), state);
    if (difference !== null) return `step ${index + 1}: ${difference}`;
  }
  return null;
};

/** Applies a patch as another language would. */
const apply = ({ value, context, gone = [] }: StatePatch, state: { value: unknown; context: Members }): void => {
  if (value !== undefined) state.value = value;
  for (const [path, changed] of Object.entries(structuredClone(context))) {
    const [parent, name] = placeOf(state.context, path);
    parent[name] = changed;
  }
  for (const path of gone) {
    const [parent, name] = placeOf(state.context, path);
    delete parent[name];
  }
};

const placeOf = (context: Members, path: string): readonly [Members, string] => {
  const names = path.split(".");
  const last = names.pop() ?? "";
  // Cast: a path leads through existing members and items.
  return [names.reduce((inner, name) => inner[name] as Members, context), last];
};
