import { keepAll } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import { LawBroken } from "../evidence/law-broken.ts";
import { makesRoomIfMeant } from "./making-room.ts";
import { newestIsShownFirst, newestIsShownFirstAtLength } from "./newest-first.ts";
import type { PolicyLaw } from "./policy-run.ts";

/** A claim that a policy leaves open, and the law that would check it. */
export interface OpenClaim {
  readonly name: "P4" | "P11";
  readonly claim: string;
  readonly law: PolicyLaw;
  /** Checks the same law in a long conversation. */
  readonly atLength?: (options: MachineOptions) => void;
}

/**
 * Returns the claims that a policy leaves open: to show what fits, newest first, and to make room. Every policy says whether
 * it is monotone and stable. One with a summariser shows older turns as summaries and waits for them, so it has no open claims.
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

/** Returns the law that a run breaks; null if it breaks none. */
export const brokenBy = (run: () => void): LawBroken | null => {
  try {
    run();
    return null;
  } catch (thrown) {
    if (thrown instanceof LawBroken) return thrown;
    throw thrown;
  }
};
