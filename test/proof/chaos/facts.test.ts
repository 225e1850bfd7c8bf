import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type Fact, readFacts, recorderOf } from "../../../proof/chaos/story/facts.ts";
import { inFolder } from "../../../proof/kit/folder.ts";

test("facts are read as they were recorded, in their order, without one that a kill has torn", () =>
  inFolder("facts", async (folder) => {
    const file = join(folder, "facts");
    expect(readFacts(file)).toEqual([]);
    const facts: readonly Fact[] = [
      { type: "performed", what: "charge", id: "a thread/1.1.0#1" },
      { type: "done", key: "a thread/1.1.0#1" },
    ];
    recorderOf(file)(facts[0] as Fact);
    appendFileSync(file, '\n{"type":"performed","what":"mod');
    recorderOf(file)(facts[1] as Fact);
    expect(readFacts(file)).toEqual(facts);
  }));
