import * as fc from "fast-check";

/** Returns how many cases a check tries: so many, or fewer where `fc.configureGlobal` says so. */
export const atMost = (cases: number): number => Math.min(cases, fc.readConfigureGlobal().numRuns ?? cases);
