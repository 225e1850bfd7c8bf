import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { drawn, type Equivalent, hunt, type Hunt } from "../../proof/mutants/hunt.ts";
import { type Mutant, mutantsOf, mutatedText } from "../../proof/mutants/mutations.ts";
import type { Source } from "../rules/source.ts";

const root = join(import.meta.dirname, "../..");
const folder = "test/proof/mutants/fixture/src";

const huntIn = (file: string, check: string, equivalent: readonly Equivalent[] = []): Promise<Hunt> =>
  hunt(
    {
      root,
      source: folder,
      mutated: `${folder}/${file}`,
      without: null,
      tests: `test/proof/mutants/fixture/checks/${check}.check.ts`,
      sources: [`${folder}/*.ts`],
      equivalent,
      secondsWithoutProgressMax: 2,
    },
    { count: 100, seed: 1, workers: 1 },
  );

const sourceOf = (text: string): Source => ({ path: "src/sample.ts", text });

const mutationsOf = (text: string): readonly string[] => mutantsOf(sourceOf(text)).map(({ mutated }) => mutated);

describe("mutants", () => {
  test.each([
    ["const f = (a, b) => a + b;", ["const f = (a, b) => a - b;"]],
    ["const f = (a, b) => a <= b;", ["const f = (a, b) => a < b;"]],
    ["const f = (a) => a ?? g;", ["const f = (a) => a && g;"]],
    ["const f = (a) => !a;", ["const f = (a) => a;"]],
    ["const f = (a) => (a ? b : c);", ["const f = (a) => (!(a) ? b : c);"]],
    ["const top = 0xdfff;", ["const top = 57344;"]],
    ["const on = true;", ["const on = false;"]],
    ["g();\nh();", ["", ""]],
    ["if (a) b.c;", ["if (!(a)) b.c;", "", "if (a)"]],
    ["for (;;) if (a) continue;\nelse b += 1;", 5],
  ] as const)("of %s", (text, expected) => {
    const mutations = mutationsOf(text);
    expect(typeof expected === "number" ? mutations.length : mutations).toEqual(expected);
  });

  test.each([
    "type A = 1 | true;",
    "const a = b as unknown as 1;",
    "const f = (a: 1): a is 1 => g(a);",
    'const a = { 1: b, "c": d };',
    'import { a } from "a";',
    "throw new RangeError(`${a + 1}`);",
    '"use strict";',
  ])("there is none in %s", (text) => expect(mutationsOf(text)).toEqual([]));

  test("each of a file is another text, and TypeScript still", () => {
    const path = "packages/machine/src/prompt/shrink.ts";
    const source = { path, text: readFileSync(join(root, path), "utf8") };
    const texts = mutantsOf(source).map((mutant) => mutatedText(source, mutant));
    expect(texts.length).toBeGreaterThan(50);
    expect(new Set([...texts, source.text]).size).toBe(texts.length + 1);
    expect(texts).not.toContain(undefined);
  });

  test("are drawn by their text, so that a new line elsewhere changes nothing", () => {
    const text = "g(1);\nh(2);\ni(3);\nj(4);";
    const names = (mutants: readonly Mutant[]): readonly string[] => mutants.map(({ original }) => original);
    const before = names(drawn(mutantsOf(sourceOf(text)), 3, 7));
    expect(before).toHaveLength(3);
    expect(names(drawn(mutantsOf(sourceOf(`const a = b;\n\n${text}`)), 3, 7))).toEqual(before);
    expect(names(drawn(mutantsOf(sourceOf(text)), 8, 8))).toHaveLength(8);
  });
});

describe("a hunt", () => {
  test("kills what a test notices, and names what none does", async () => {
    const { killed, timeouts, survivors, problems } = await huntIn("price.ts", "all");
    expect({ killed, timeouts, problems }).toEqual({ killed: 4, timeouts: 0, problems: [] });
    const priceOf = "export const priceOf = (count: number): number => count";
    expect(new Set(survivors.map(({ line, mutated }) => `${line}: ${mutated}`))).toEqual(
      new Set([`2: ${priceOf} * (count > 10 ? 7 : 9);`, `2: ${priceOf} * (count >= 11 ? 7 : 9);`]),
    );
  });

  test("counts an endless loop as noticed, and leaves none behind", async () => {
    const { timeouts, survivors, problems } = await huntIn("steps.ts", "all");
    expect(timeouts).toBe(1);
    expect(survivors.map(({ mutated }) => mutated)).toEqual([]);
    expect(problems).toEqual([]);
    const { stdout } = spawnSync("ps", ["-eo", "ppid,args"], { encoding: "utf8" });
    const own = new RegExp(`^\\s*${process.pid} .*mutants/runner`);
    expect(stdout.split("\n").filter((line) => own.test(line))).toEqual([]);
  });

  test("finds alive what no test reaches, and leaves types and messages alone", async () => {
    expect((await huntIn("unseen.ts", "all")).survivors).toHaveLength(1);
    expect((await huntIn("types.ts", "all")).mutants).toBe(0);
  });

  test("does not believe a test that fails without a mutant", async () => {
    const { problems } = await huntIn("unseen.ts", "broken");
    expect(problems).toEqual([
      "test/proof/mutants/fixture/checks/broken.check.ts also fails without a mutant: expected true to be 'seen' // Object.is equality",
    ]);
  });

  test("counts what is known to be equivalent apart, and reports what names nothing any more", async () => {
    const original = "export const isUnseen = (): boolean => true;";
    const entry = { path: `${folder}/unseen.ts`, original, reason: "nobody looks at it" };
    const known = { ...entry, mutated: "export const isUnseen = (): boolean => false;" };
    const stale = { ...entry, mutated: "export const isUnseen = (): boolean => !true;" };
    expect(await huntIn("unseen.ts", "all", [known, stale])).toMatchObject({
      mutants: 1,
      killed: 0,
      equivalent: 1,
      survivors: [],
      stale: [stale],
    });
  });
});
