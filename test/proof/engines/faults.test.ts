import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mistakes } from "../../../proof/engines/faults.ts";

const sources = join(import.meta.dirname, "../../../packages/runtime-restate/src");

test.each(Object.entries(mistakes))("the text that the fault %s is put in place of stands there once", (_, mistake) => {
  const { file, text } = mistake;
  expect(readFileSync(join(sources, file), "utf8").split(text)).toHaveLength(2);
});
