import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { noteRun, readLedger, runsIn } from "../../../proof/engines/ledger.ts";
import { inFolder } from "../../../proof/kit/folder.ts";

test("a ledger has each run that was noted, in their order", () =>
  inFolder("ledger", async (folder) => {
    const ledger = join(folder, "ledger");
    writeFileSync(ledger, "");
    expect(readLedger(ledger)).toEqual([]);
    const ran = [
      { what: "charge", id: "a thread/1.1.0#1" },
      { what: "model", id: "t1/1.1#1" },
    ];
    for (const each of ran) noteRun(ledger, each);
    expect(readLedger(ledger)).toEqual(ran);
    expect(runsIn("charge t1/1.1.0#1")).toEqual([{ what: "charge", id: "t1/1.1.0#1" }]);
  }));
