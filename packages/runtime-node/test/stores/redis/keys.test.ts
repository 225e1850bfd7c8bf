import * as fc from "fast-check";
import { expect, test } from "vitest";

import { placeOf, threadAt, timeText } from "../../../src/stores/redis/keys.ts";

const time = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));

test("places sort by their bytes as their times do by number", () => {
  fc.assert(
    fc.property(time, time, (one, other) => {
      expect(Buffer.compare(Buffer.from(timeText(one)), Buffer.from(timeText(other)))).toBe(
        one === other ? 0 : one < other ? -1 : 1,
      );
    }),
  );
});

test("a place tells its thread and the lease that made it", () => {
  fc.assert(
    fc.property(time, fc.string(), fc.nat(), (createdAt, text, token) => {
      const threadId = text.replaceAll("\0", "");
      expect(threadAt(placeOf({ createdAt, threadId }, token))).toEqual({ threadId, token: String(token) });
    }),
  );
});
