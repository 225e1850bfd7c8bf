import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "@colloquy/machine/policies";
import fc from "fast-check";
import { nameArbitrary } from "./values.ts";

const field = nameArbitrary.filter((name) => name.trim() !== "");

/** The shipped policies that need no summary, with limits that short conversations reach. */
export const plainPolicyArbitraries: { readonly [name: string]: fc.Arbitrary<Policy> } = {
  keepAll: fc.constant(keepAll()),
  lastTurns: fc
    .tuple(fc.nat({ max: 3 }), fc.constantFrom(0, 0, 2, 3))
    .map(([count, slack]) => lastTurns(count, { slack })),
  lastMessages: fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 12 }), fc.boolean()).map(([max, recent, keepSystem]) =>
    // The difference of the two must be large enough for a turn; otherwise the policy cuts at every turn.
    lastMessages({ max, keepRecent: max >= 8 ? recent % (max - 7) : max, keepSystem }),
  ),
  tokenWindow: fc.oneof(
    fc
      .tuple(fc.nat({ max: 400 }), fc.constantFrom(0, 0, 0.2, 1))
      .map(([tokens, share]) => tokenWindow({ tokens, reserve: Math.floor(tokens * share) })),
    // A window that holds few turns cuts at most of them, however deep the cut.
    fc
      .tuple(fc.constantFrom(1_500, 3_000, null), fc.constantFrom(0, 0.2), fc.constantFrom(1, 0.5, 0.75, 0.2))
      .map(([tokens, share, cutTo]) =>
        tokenWindow(tokens === null ? { cutTo } : { tokens, reserve: Math.floor(tokens * share), cutTo }),
      ),
  ),
  clearResults: fc
    .record({
      keep: fc.nat({ max: 2 }),
      slack: fc.constantFrom(0, 2, 3),
      when: fc.constantFrom("pressed" as const, "always" as const),
    })
    .map(clearResults),
  limitResults: fc
    .tuple(fc.constantFrom(200, 250, 1_000), fc.constantFrom("headAndTail" as const, "reference" as const))
    .map(([characters, rule]) =>
      limitResults(rule === "reference" ? { characters, rule, tool: "read" } : { characters }),
    ),
  fitOversized: fc
    .tuple(
      fc.constantFrom("headAndTail" as const, "reference" as const),
      fc.constantFrom("messages" as const, "toolResults" as const),
    )
    .map(([rule, of]) => fitOversized({ rule, of })),
  omitFields: fc.array(field, { maxLength: 2 }).map(omitFields),
  onlyInputs: fc.array(field, { maxLength: 2 }).map(onlyInputs),
};

/** The shipped policies that request summaries. */
export const summarisingPolicyArbitraries: { readonly [name: string]: fc.Arbitrary<Policy> } = {
  compactTurns: fc
    .tuple(fc.nat({ max: 2 }), fc.constantFrom(0.3, 0.8, 1), fc.constantFrom(20, 1_000))
    .map(([keepTurns, at, maxTokens]) => compactTurns({ keepTurns, at, maxTokens, requestTokens: 4_000 })),
  summariseTurns: fc
    .tuple(fc.nat({ max: 4 }), fc.nat({ max: 2 }), fc.constantFrom("concise" as const, "verbose" as const))
    .map(([maxTurns, keepTurns, level]) => summariseTurns({ maxTurns, keepTurns, level, requestTokens: 4_000 })),
};

const plain = fc.oneof(...Object.values(plainPolicyArbitraries));
const summarising = fc.oneof(...Object.values(summarisingPolicyArbitraries));

/** One of the shipped policies. */
export const shippedPolicyArbitrary: fc.Arbitrary<Policy> = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 1, arbitrary: summarising },
);

/**
 * A composition of several shipped policies, in any order, with at most one that requests summaries. The window with
 * hysteresis is the only plain policy that cuts; two would move each other's cut at every turn.
 */
export const composedPolicyArbitrary: fc.Arbitrary<Policy> = fc
  .record({ parts: fc.array(plain, { maxLength: 3 }), summariser: fc.option(summarising, { freq: 2 }), at: fc.nat() })
  .map(({ parts, summariser, at }) =>
    compose(...alone(summariser === null ? parts : parts.toSpliced(at % (parts.length + 1), 0, summariser))),
  );

function alone(parts: readonly Policy[]): readonly Policy[] {
  const settling = parts.find((policy) => cuts(policy) && policy.stable && policy.summariser === undefined);
  return settling === undefined ? parts : parts.filter((policy) => policy === settling || !cuts(policy));
}

function cuts({ name, summariser }: Policy): boolean {
  return summariser !== undefined || ["last-turns", "last-messages", "token-window"].includes(name);
}
