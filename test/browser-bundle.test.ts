import { dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";

import type * as Machine from "@colloquy/machine";
import { type OutputChunk, rolldown } from "rolldown";
import { describe, expect, test } from "vitest";

import { oneTurn, oneTurnExpected } from "./one-turn.ts";
import { namesUsed } from "./rules/purity.ts";
import { importsOf } from "./rules/source.ts";

const root = dirname(import.meta.dirname);

/** Names that only Node has, or that a bundle for it would look for. */
const namesOfNode = ["process", "Buffer", "require", "__dirname", "__filename", "setImmediate"];

/** A package as one script for a browser, dependencies included and nothing put in Node's place. */
const bundle = async (name: string): Promise<string> => (await built(name)).code;

const built = async (name: string): Promise<OutputChunk> => {
  const building = await rolldown({
    input: join(root, `packages/${name}/src/index.ts`),
    platform: "browser",
    onLog: (level, log) => {
      if (level === "warn") throw new Error(`${name}: ${log.message}`);
    },
  });
  const { output } = await building.generate({ format: "iife", name: "bundle", exports: "named" });
  await building.close();
  return output[0];
};

/** What a script defines as `bundle`, where there is nothing but the language and the given globals. */
const evaluate = (code: string, globals: object): unknown => {
  const context = createContext(globals);
  runInContext(code, context);
  return runInContext("bundle", context);
};

describe.each(["machine", "host", "interchange", "telemetry", "templates", "runtime-browser"])(
  "%s, bundled for a browser",
  (name) => {
    test("needs nothing of Node", async () => {
      const source = { path: `${name}.js`, text: await bundle(name) };
      expect(importsOf(source)).toEqual([]);
      expect(namesUsed(source, namesOfNode)).toEqual([]);
    });

    test("has zod's mini build within it, if any: three times smaller than the whole", async () => {
      const { moduleIds } = await built(name);
      expect(moduleIds.filter((path) => path.includes("/zod/v4/classic/"))).toEqual([]);
    });
  },
);

test("a bundle that needs Node is found out", async () => {
  const source = { path: "bad.js", text: "const bundle = { home: process.env.HOME, size: Buffer.alloc(1) };" };
  expect(namesUsed(source, namesOfNode)).toEqual(["process", "Buffer"]);
  expect(() => evaluate(source.text, {})).toThrow("process is not defined");
  await expect(bundle("runtime-node")).rejects.toThrow("runtime-node: ");
});

test("the machine holds a conversation where there is nothing but the language", async () => {
  // The bundle exports what the package does.
  const machine = evaluate(await bundle("machine"), {}) as typeof Machine;
  expect(oneTurn(machine)).toEqual(oneTurnExpected);
});

test("the host loads where there is nothing but the language and AbortController", async () => {
  expect(evaluate(await bundle("host"), { AbortController, AbortSignal })).toBeTypeOf("object");
});
