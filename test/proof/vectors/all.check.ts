// Run against each seeded fault of the machine: every vector, or what is wrong with it.
import { expect, test } from "vitest";

import { problemOfFile } from "../../../proof/vectors/check.ts";
import { vectorFiles } from "../../../proof/vectors/files.ts";

test.each(vectorFiles())("$file", ({ vector }) => {
  expect(problemOfFile(vector)).toBeNull();
});
