import { keepAll } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import { LawBroken } from "../evidence/law-broken.ts";
import { makesRoomIfMeant } from "./making-room.ts";
import { newestIsShownFirst, newestIsShownFirstAtLength } from "./newest-first.ts";
import type { PolicyLaw } from "./policy-run.ts";

/** A claim that nobody made for a policy, and the law that it would be held to. */
export interface OpenClaim {
  readonly name: "P4" | "P11";
  readonly claim: string;
  readonly law: PolicyLaw;
  /** The same law in a long conversation. */
  readonly atLength?: (options: MachineOptions) => void;
}

/**
 * The claims that were left open: to show what fits, newest first, and to make room. A policy always says whether it is
 * monotone and stable. One that has summaries written shows older turns as these, and waits for them.
 */
export const openClaims = (
  { policy = keepAll() }: MachineOptions,
  { except = [], makesRoom = false }: { readonly except?: readonly string[]; readonly makesRoom?: boolean },
): readonly OpenClaim[] => {
  if (policy.summariser !== undefined) return [];
  const claims: OpenClaim[] = [];
  if ((policy.newestFirst ?? false) === false) {
    const claiming = { ...policy, newestFirst: true };
    claims.push({
      name: "P11",
      claim: "newestFirst: true",
      law: (run) => newestIsShownFirst({ ...run, policy: claiming }),
      atLength: (options) => newestIsShownFirstAtLength({ ...options, policy: claiming }),
    });
  }
  if (!makesRoom) claims.push({ name: "P4", claim: "makesRoom: true", law: makesRoomIfMeant });
  return claims.filter(({ name }) => !except.includes(name));
};

/** What a law has against something; null where it holds. */
export const brokenBy = (run: () => void): LawBroken | null => {
  try {
    run();
    return null;
  } catch (thrown) {
    if (thrown instanceof LawBroken) return thrown;
    throw thrown;
  }
};
