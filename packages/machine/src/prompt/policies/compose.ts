import { type JsonObject, preview } from "../../thread/plain-data.ts";
import { ConfigurationError } from "../configuration-error.ts";
import { counted } from "../counts.ts";
import { type Cut } from "../cut.ts";
import { isOlder } from "../unit.ts";
import { newestFirstOf } from "../newest-first.ts";
import type { Policy, PolicyDecision, PolicyInput, Summariser } from "../policy.ts";
import { inputUnder } from "./input-under.ts";
import { everything, isEverything, mergedDecision, type Shown, showsTheSame } from "./merged-decision.ts";

/** A policy that combines several. */
export interface ComposedPolicy extends Policy {
  /** In the order in which they decide. Nested compositions are flattened. */
  readonly parts: readonly Policy[];
}

/**
 * Combines policies into one. Each is asked about the history that those before it leave, and nothing is shown that
 * one of them leaves out. It is monotone, or stable, if all of them are. If each states `newestFirst` limits, it
 * claims the narrowest of them. Without policies it shows the whole thread.
 *
 * All get the last cut, which is their common one. If it is new to one of them, they are asked again, so that the next
 * prompt does not change once more. If a part keeps the last cut, and the prompt fits only without it, they are asked
 * without it.
 *
 * Put policies that shrink messages before those that cut: `compose(limitResults(…), tokenWindow())`.
 *
 * @throws ConfigurationError if more than one has a summariser, or if one is not a policy or has no name and version.
 */
export const compose = (...policies: readonly Policy[]): ComposedPolicy => {
  const wrong = problemOfGiven(policies);
  if (wrong !== null) throw new ConfigurationError(`compose: ${wrong}`);
  const parts = policies.flatMap((policy) => (isComposed(policy) ? policy.parts : [policy]));
  const problem = problemOf(parts);
  if (problem !== null) throw new ConfigurationError(`compose: ${problem}`);
  const summarising = parts.findIndex(({ summariser }) => summariser !== undefined);
  const together: Together = { parts, summarising };
  const summariser = summariserOf(together);
  return {
    name: "compose",
    version: 1,
    options: { policies: policies.map(identityOf) },
    monotone: parts.every(({ monotone }) => monotone),
    stable: parts.every(({ stable }) => stable),
    newestFirst: newestFirstOf(parts.map(({ newestFirst }) => newestFirst)),
    decide: (input) => decideToFit(together, input),
    ...(summariser === null ? {} : { summariser }),
    parts,
  };
};

/** The data for decisions, created once. */
interface Together {
  readonly parts: readonly Policy[];
  /** The index of the part with a summariser; -1 for none. */
  readonly summarising: number;
}

/** Decides without the last cut if the prompt does not fit with it: cached prefixes must not cost the turn. */
const decideToFit = (together: Together, input: PolicyInput): PolicyDecision => {
  const { available, measure } = input;
  const { decision, heeded } = decideTogether(together, input);
  if (available === null || input.lastCut === null || !heeded || isInvalid(decision)) return decision;
  const doesFit = (decided: PolicyDecision): boolean => (counted(() => measure(decided)) ?? 0) <= available;
  if (doesFit(decision)) return decision;
  const { decision: anew } = decideTogether(together, { ...input, lastCut: null });
  return !isInvalid(anew) && doesFit(anew) ? anew : decision;
};

interface Decided {
  readonly decision: PolicyDecision;
  readonly heeded: boolean;
}

/** Asks the parts until they agree with the cut that they make together. */
const decideTogether = (together: Together, input: PolicyInput): Decided => {
  let last = input.lastCut;
  for (let round = 1; ; round++) {
    const lastCut = last;
    let heeded = false;
    const decision = decideInTurn(together, input, () => {
      heeded = true;
      return lastCut;
    });
    const isSettled = !heeded || round === mostRounds || isInvalid(decision);
    if (isSettled || showsTheSame(decision, lastCut ?? everything)) return { decision, heeded };
    last = cutOf(decision, input.lastCut);
  }
};

/** Stops parts that never agree. */
const mostRounds = 4;

const decideInTurn = (
  { parts, summarising }: Together,
  input: PolicyInput,
  lastCut: () => Cut | null,
): PolicyDecision => {
  let shown = everything;
  const said = new Set<string>();
  let cutOff: string | null = null;
  let reasons: NonNullable<PolicyDecision["reasons"]> = {};
  for (const [place, part] of parts.entries()) {
    let written: Pick<PolicyInput, "lastCut"> | null = null;
    const given: PolicyInput = {
      ...inputUnder(input, shown),
      get lastCut() {
        return written === null ? (place < summarising ? withoutSummaries(lastCut()) : lastCut()) : written.lastCut;
      },
      // A policy may write into what it is given.
      set lastCut(cut) {
        written = { lastCut: cut };
      },
    };
    const decision = part.decide(given);
    // The machine reports what is invalid; a merged decision would hide it.
    if (isInvalid(decision)) return decision;
    if (!isEverything(decision)) said.add(decision.reason);
    if (isOlder(shown.from, decision.from)) cutOff = decision.reason;
    reasons = { ...reasonsOf(decision), ...reasons };
    shown = mergedDecision(shown, decision);
  }
  const reason = cutOff ?? (said.size === 0 ? "everything is kept" : [...said].join("; "));
  return { ...shown, reason, ...(Object.keys(reasons).length === 0 ? {} : { reasons }) };
};

/** Returns a part's reasons for what it drops. They differ from the reason for the whole cut. */
const reasonsOf = ({ dropped = [], reason, reasons }: PolicyDecision): NonNullable<PolicyDecision["reasons"]> => ({
  ...Object.fromEntries(dropped.map((id) => [id, reason])),
  ...reasons,
});

/** Returns the summariser, if any. It is asked about the history that the policies before it leave. */
const summariserOf = ({ parts, summarising }: Together): Summariser | null => {
  const summariser = parts[summarising]?.summariser;
  if (summariser === undefined) return null;
  const before: Together = { parts: parts.slice(0, summarising), summarising };
  return {
    ...summariser,
    next: (input) => summariser.next(inputUnder(input, decideTogether(before, input).decision)),
  };
};

/** Returns the last cut for the parts before the summariser. For them, summarised turns were shown and not cut off. */
const withoutSummaries = (cut: Cut | null): Cut | null => {
  if (cut?.summarised === undefined) return cut;
  const { summarised, ...rest } = cut;
  return { ...rest, from: summarised.from === 0 ? null : { turn: summarised.from, unit: 0 } };
};

const cutOf = ({ from, dropped, summarised, shrink, fields, system }: Shown, lastCut: Cut | null): Cut => ({
  policy: "compose@1",
  interrupted: lastCut?.interrupted ?? "keep",
  from,
  ...(dropped === undefined ? {} : { dropped }),
  ...(summarised === undefined ? {} : { summarised: { ...summarised, upTo: Number.MAX_SAFE_INTEGER } }),
  ...(shrink === undefined ? {} : { shrink }),
  ...(fields === undefined ? {} : { fields }),
  ...(system === undefined ? {} : { system }),
});

/** A policy in plain JavaScript may decide anything. */
const isInvalid = (decision: PolicyDecision): boolean => {
  if (typeof decision !== "object" || decision === null) return true;
  const { from, dropped = [], shrink = [] } = decision;
  return !(isPosition(from) && Array.isArray(dropped) && Array.isArray(shrink));
};

const isPosition = (from: PolicyDecision["from"]): boolean =>
  from === null || (Number.isSafeInteger(from?.turn) && Number.isSafeInteger(from?.unit));

const isComposed = (policy: Policy): policy is ComposedPolicy => policy.name === "compose" && "parts" in policy;

const identityOf = ({ name, version, options }: Policy): JsonObject => ({ name, version, options });

/** Plain JavaScript may pass anything. */
const problemOfGiven = (policies: readonly unknown[]): string | null => {
  for (const [place, policy] of policies.entries()) {
    if (Array.isArray(policy)) return `policy ${place} is a list; give policies one by one, not as a list`;
    if (typeof policy === "function") return `policy ${place} is a function; call it, as in keepAll()`;
    if (typeof policy !== "object" || policy === null || !("decide" in policy) || typeof policy.decide !== "function")
      return `policy ${place} is ${preview(policy)}, which decides nothing; give a policy, such as keepAll()`;
  }
  return null;
};

const problemOf = (parts: readonly Policy[]): string | null => {
  const nameless = parts.findIndex(
    ({ name, version }) => typeof name !== "string" || name === "" || !Number.isSafeInteger(version),
  );
  if (nameless >= 0) {
    return `policy ${nameless} has no name and version; give it both, so that journals can keep it apart from others`;
  }
  const summarising = parts.filter(({ summariser }) => summariser !== undefined).map(({ name }) => `"${name}"`);
  return summarising.length > 1
    ? `${summarising.join(" and ")} each have summaries written, and one at most can; leave the others out`
    : null;
};
