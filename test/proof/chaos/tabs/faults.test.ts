import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mistakes } from "../../../../proof/chaos/tabs/faults.ts";

const sources = join(import.meta.dirname, "../../../../packages/runtime-browser/src/indexed-db");

test.each(Object.entries(mistakes).flatMap(([name, each]) => each.map((mistake) => [name, mistake] as const)))(
  "the text that the fault %s is put in place of stands there once",
  (_, { file, text }) => {
    expect(readFileSync(join(sources, file), "utf8").split(text)).toHaveLength(2);
  },
);
