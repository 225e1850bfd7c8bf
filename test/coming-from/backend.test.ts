import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { countedRows } from "../../proof/backend/beside-ai-sdk.ts";

it("docs/coming-from.md has the counts of the backends as they are", () => {
  const [, , ...rows] = countedRows();
  const docs = readFileSync(new URL("../../docs/coming-from.md", import.meta.url), "utf8").replaceAll(/ +/gu, " ");
  expect(rows.filter((row) => !docs.includes(row))).toEqual([]);
  expect(rows).toHaveLength(3);
});
