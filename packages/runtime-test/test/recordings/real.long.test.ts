import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRecordings, replayCase } from "@colloquy/runtime-test/recordings";
import { describe, expect, it } from "vitest";

const folder = process.env["COLLOQUY_RECORDINGS"] ?? join(import.meta.dirname, "../../../../../shared/recordings");
const absent = !existsSync(folder);

describe.skipIf(absent)(
  `real conversations${absent ? ` (skipped: ${folder} does not exist; set COLLOQUY_RECORDINGS)` : ""}`,
  async () => {
    const { cases, unreadable } = absent ? { cases: [], unreadable: [] } : await readRecordings(folder);

    it("are all read", () => {
      expect(unreadable).toEqual([]);
    });

    for (const { file, common, records } of cases) {
      it(`of ${file} replay as they were recorded (${records.length})`, () => {
        for (const recorded of records) {
          const { outcome, difference } = replayCase(recorded, { common });
          // A recording that no thread can contain is not the machine's fault; the script lists it with its reason.
          expect(outcome, `${recorded.id}: ${difference?.words}`).not.toBe("failed");
        }
      });
    }
  },
);
