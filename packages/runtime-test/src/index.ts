export * from "./coverage.ts";
export * from "./golden.ts";
export * from "./scenario.ts";
export { sequentialIds } from "./sequential-ids.ts";
export { runningClock, virtualClock, type VirtualClock } from "./virtual-clock.ts";
