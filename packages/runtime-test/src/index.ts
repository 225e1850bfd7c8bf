export * from "./arbitraries/coverage.ts";
export * from "./golden.ts";
export * from "./scenario.ts";
export { sequentialIds, runningClock, virtualClock, type VirtualClock } from "./ports/virtual-clock.ts";
