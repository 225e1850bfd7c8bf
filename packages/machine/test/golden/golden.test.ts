import { traceOf } from "@colloquy/runtime-test";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { stories } from "./stories.ts";

// `vitest run -u` rewrites the files. Only keep changes that you can explain.

test.each(stories)("$name", async ({ name, options, input, told }) => {
  await expect(traceOf(conversationMachine(options), told, input)).toMatchFileSnapshot(`${name}.txt`);
});

test("there is a story for each file", () => {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".txt"));
  expect(files.sort()).toEqual(stories.map(({ name }) => `${name}.txt`).sort());
});
