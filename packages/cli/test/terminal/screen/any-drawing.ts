import fc from "fast-check";
import type { Size } from "../../../src/terminal/index.ts";

/** A change of a screen; each change is drawn. */
export interface Step {
  /** New finished lines. */
  readonly finished: readonly string[];
  readonly open: readonly string[];
  readonly input: readonly string[];
  readonly status: string;
  /** The terminal's new size before the change; null if it stays. */
  readonly size: Size | null;
}

const pieces = ["a", "word ", "日本", "ｱ", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "한국", " ", "1️⃣"];
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength }).map((parts) => parts.join(""));
const longWord = fc.constantFrom("x".repeat(10_000), "日".repeat(10_000));
const anyText = fc.oneof({ weight: 60, arbitrary: text(60) }, { weight: 1, arbitrary: longWord });

/** Sizes from 20×6. */
export const anySize: fc.Arbitrary<Size> = fc.record({
  columns: fc.integer({ min: 20, max: 120 }),
  rows: fc.integer({ min: 6, max: 40 }),
});

/** Generates the changes of a screen, with at most `open` open lines. */
export const anySteps = ({
  resizes,
  open,
}: {
  readonly resizes: boolean;
  readonly open: number;
}): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      finished: fc.array(anyText, { maxLength: 3 }),
      open: fc.array(anyText, { maxLength: open }),
      input: fc.array(text(30), { minLength: 1, maxLength: 4 }),
      status: text(20),
      size: resizes ? fc.option(anySize, { freq: 2 }) : fc.constant(null),
    }),
    { minLength: 1, maxLength: 12 },
  );
