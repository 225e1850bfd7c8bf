import { unfrozenIn } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

import { problemOfFile } from "../../../proof/vectors/check.ts";
import { vectorFiles } from "../../../proof/vectors/files.ts";
import { played } from "../../../proof/vectors/record.ts";
import { presentScripts } from "../../../proof/vectors/set.ts";

test.each(vectorFiles())("does what $file says", ({ vector }) => {
  expect(problemOfFile(vector)).toBeNull();
});

test("the machine returns only deeply frozen values in every vector", () => {
  for (const { started, steps } of presentScripts().map(played))
    for (const given of [started, ...steps.map(({ answer }) => answer)]) expect(unfrozenIn(given)).toBeNull();
});

// Vectors omit reasons, which are for people. `vitest run -u` rewrites them.
test("gives a reason for each refusal of the vectors, the same as before", async () => {
  const reasons = presentScripts().flatMap((script) =>
    played(script).steps.flatMap(({ step: { event }, answer }) =>
      answer.handled ? [] : [`${event.type} (${answer.refusal.kind}): ${JSON.stringify(answer.refusal.reason)}`],
    ),
  );
  await expect(`${[...new Set(reasons)].toSorted().join("\n")}\n`).toMatchFileSnapshot("refusals.txt");
});
