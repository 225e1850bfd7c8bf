import fc from "fast-check";
import { type Message } from "../../../src/index.ts";
import { type Cut, unitsOf } from "../../../src/policies.ts";
import { closedUnits, type MadeUp, type MadeUpTurn, round, said, saidFields } from "./made-up-history.ts";

/** Draws conversations with rounds, parallel calls, fields, interrupted turns, gaps, a seed, pins and an open turn. */
export const madeUpArbitrary = (): fc.Arbitrary<MadeUp> =>
  fc
    .record({
      system: fc.option(textArbitrary.map((text) => said("s1", "system", text))),
      seed: fc.oneof(fc.constant([]), entriesArbitrary),
      turns: fc.array(
        fc.record({ gap: fc.constantFrom(1, 1, 3), entries: entriesArbitrary, interrupted: fc.boolean() }),
        { maxLength: 6 },
      ),
      open: entriesArbitrary,
      isOpen: fc.boolean(),
      pins: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
    })
    .map(({ system, seed, turns, open, isOpen, pins }) => {
      const closed: MadeUpTurn[] = [];
      for (const { gap, entries, interrupted } of turns) {
        const number = newestOf(closed) + gap;
        closed.push({ number, messages: messagesOf(number, entries), interrupted });
      }
      const made = {
        system,
        seed: messagesOf(0, seed),
        turns: closed,
        open: messagesOf(newestOf(closed) + 1, open),
        isOpen,
      };
      const ids = [...closedUnits(made), ...unitsOf(0, made.open)].flatMap(({ messages }) =>
        messages.map(({ id }) => id),
      );
      return { ...made, pins: pins.flatMap((pin) => ids[pin] ?? []) };
    });

/** Draws a last cut: at a unit of the conversation, at a missing one, after all units, or none. */
export const lastCutArbitrary = (made: MadeUp): fc.Arbitrary<Cut | null> => {
  const starts = closedUnits(made).map(({ turn, position }) => ({ turn, unit: position }));
  const others = [null, { turn: 2, unit: 1 }, { turn: newestOf(made.turns ?? []) + 1, unit: 0 }];
  return fc
    .option(fc.constantFrom(...others, ...starts))
    .map((from) => (from === null ? null : { policy: "made-up@1", from, interrupted: "keep" }));
};

type Entry = string | { readonly field: string } | { readonly results: readonly string[] };

/** Draws texts: short ones, whose sums often meet a budget exactly, and ones that are long enough to shrink. */
const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 12 }).map((length) => "x".repeat(length)) },
  fc.integer({ min: 190, max: 400 }).map((length) => "y".repeat(length)),
);

const entriesArbitrary: fc.Arbitrary<readonly Entry[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: textArbitrary },
    fc.record({ field: fc.constantFrom("question", "context") }),
    fc.record({ results: fc.array(textArbitrary, { minLength: 1, maxLength: 3 }) }),
  ),
  { maxLength: 4 },
);

const messagesOf = (turn: number, entries: readonly Entry[]): readonly Message[] =>
  entries.flatMap((entry, index) => {
    const id = `${turn}.${index}`;
    if (typeof entry === "string") return [said(id, index % 2 === 0 ? "user" : "assistant", entry)];
    if ("field" in entry) return [saidFields(id, "user", { [entry.field]: "z".repeat(5) })];
    return round(id, "", entry.results);
  });

const newestOf = (turns: readonly MadeUpTurn[]): number => turns.at(-1)?.number ?? 0;
