import { createContext, runInContext } from "node:vm";

import type * as Machine from "@colloquy/machine";
import { describe, expect, test } from "vitest";

import { bundleFor, codeFor, namesOfNode } from "./browser-bundle.ts";
import { oneTurn, oneTurnExpected } from "./one-turn.ts";
import { namesUsed } from "./rules/purity.ts";
import { importsOf } from "./rules/source.ts";

/** Returns the value that a script defines as `bundle`, given only the language and the listed globals. */
const evaluate = (code: string, globals: object): unknown => {
  const context = createContext(globals);
  runInContext(code, context);
  return runInContext("bundle", context);
};

describe.each([
  "machine",
  "host",
  "interchange",
  "host/src/telemetry/index.ts",
  "interchange/src/templates/index.ts",
  "runtime-browser",
])("%s, bundled for a browser", (name) => {
  test("needs nothing of Node", async () => {
    const source = { path: `${name}.js`, text: await codeFor(name) };
    expect(importsOf(source)).toEqual([]);
    expect(namesUsed(source, namesOfNode)).toEqual([]);
  });

  test("has zod's mini build within it, if any: three times smaller than the whole", async () => {
    const { moduleIds } = await bundleFor(name);
    expect(moduleIds.filter((path) => path.includes("/zod/v4/classic/"))).toEqual([]);
  });
});

test("a bundle that needs Node is found out", async () => {
  const source = { path: "bad.js", text: "const bundle = { home: process.env.HOME, size: Buffer.alloc(1) };" };
  expect(namesUsed(source, namesOfNode)).toEqual(["process", "Buffer"]);
  expect(() => evaluate(source.text, {})).toThrow("process is not defined");
  await expect(codeFor("runtime-node")).rejects.toThrow("runtime-node: ");
});

test("the machine holds a conversation where there is nothing but the language", async () => {
  // Cast: the bundle has the exports of the package.
  const machine = evaluate(await codeFor("machine"), {}) as typeof Machine;
  expect(oneTurn(machine)).toEqual(oneTurnExpected);
});

test("the host loads where there is nothing but the language and AbortController", async () => {
  expect(evaluate(await codeFor("host"), { AbortController, AbortSignal })).toBeTypeOf("object");
});
