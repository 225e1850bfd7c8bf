import { expect, test } from "vitest";

import { randomIds } from "../../src/ports/system.ts";

test("draws ids that say what they name and never come again", () => {
  const drawn = (["thread", "ask", "owner"] as const).flatMap((kind) =>
    Array.from({ length: 1000 }, () => {
      const id = randomIds.draw(kind);
      expect(id).toMatch(new RegExp(`^${kind}-[\\w-]{22}$`));
      return id;
    }),
  );
  expect(new Set(drawn).size).toBe(drawn.length);
});
