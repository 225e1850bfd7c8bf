import fc from "fast-check";
import { mostSummaryTokens } from "./plain-model.ts";
import type { Config, PlainPolicy } from "./plain-prompt.ts";

/** One thing that happens to a conversation; a `pick` is taken modulo the number of what there is. */
export type Move =
  | { readonly move: "ask" | "append"; readonly text: string }
  | { readonly move: "add"; readonly text: string }
  | {
      readonly move: "answer";
      readonly text: string;
      readonly reported: number | null;
      readonly tools: readonly string[];
      readonly pick: number;
    }
  | { readonly move: "fail"; readonly retryable: boolean }
  | { readonly move: "cancel" | "clear" | "undo" | "wait" }
  | { readonly move: "moveHead" | "pin" | "unpin"; readonly pick: number }
  | { readonly move: "truncate"; readonly pick: number; readonly characters: number }
  | { readonly move: "system"; readonly text: string | null }
  | { readonly move: "summary"; readonly text: string | null }
  | { readonly move: "configure"; readonly config: Config };

export const text = (longest: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: longest }))
    .map(([letter, length]) => letter.repeat(length));
const pick = fc.nat({ max: 1_000 });

const policies: fc.Arbitrary<PlainPolicy> = fc.oneof(
  fc.record({ type: fc.constant("all" as const) }),
  fc.record({ type: fc.constant("turns" as const), count: fc.nat({ max: 3 }) }),
  { weight: 4, arbitrary: fc.record({ type: fc.constant("window" as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("rolling" as const),
      keep: fc.constantFrom(0, 0, 1, 2),
      when: fc.constantFrom("always" as const, "full" as const),
      without: fc.constantFrom("keep" as const, "drop" as const),
    }),
  },
);

const room = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

const budgets: fc.Arbitrary<Config["budget"]> = fc
  .option(fc.tuple(fc.oneof({ weight: 4, arbitrary: room(20, 300) }, room(300, 1_500)), fc.nat({ max: 20 })), {
    freq: 8,
  })
  .map((budget) => (budget === null ? null : { tokens: budget[0], reserve: budget[1] }));

export const configs: fc.Arbitrary<Config> = fc.record({
  policy: policies,
  budget: budgets,
  interrupted: fc.constantFrom("keep" as const, "omit" as const),
});

const move = <const Name extends Move["move"], Rest extends object>(
  weight: number,
  name: Name,
  rest: fc.Arbitrary<Rest>,
): { readonly weight: number; readonly arbitrary: fc.Arbitrary<{ readonly move: Name } & Rest> } => ({
  weight,
  arbitrary: rest.map((fields) => ({ move: name, ...fields })),
});

export const moves: fc.Arbitrary<Move> = fc.oneof(
  move(8, "ask", fc.record({ text: text(30) })),
  move(
    14,
    "answer",
    fc.record({
      text: text(30),
      reported: fc.option(fc.nat({ max: 300 }), { freq: 3 }),
      tools: fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        fc.array(fc.constantFrom("search", "sum"), { minLength: 1, maxLength: 2 }),
      ),
      pick,
    }),
  ),
  move(
    5,
    "summary",
    fc.record({
      text: fc.option(
        fc.oneof({ weight: 4, arbitrary: text(20) }, fc.constant(""), fc.constant("x".repeat(mostSummaryTokens))),
      ),
    }),
  ),
  move(4, "append", fc.record({ text: text(40) })),
  move(1, "add", fc.record({ text: text(20) })),
  move(4, "fail", fc.record({ retryable: fc.constantFrom(true, true, false) })),
  move(3, "wait", fc.constant({})),
  move(1, "cancel", fc.constant({})),
  move(1, "clear", fc.constant({})),
  move(1, "undo", fc.constant({})),
  move(1, "moveHead", fc.record({ pick })),
  move(1, "truncate", fc.record({ pick, characters: fc.nat({ max: 10 }) })),
  move(1, "system", fc.record({ text: fc.option(text(20)) })),
  move(2, "pin", fc.record({ pick })),
  move(1, "unpin", fc.record({ pick })),
  move(2, "configure", fc.record({ config: configs })),
);
