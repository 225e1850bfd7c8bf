export { defaultFaults, type Fault, type Faults, noFaults } from "./world/faults.ts";
export { type Law, SimulationError } from "./world/world.ts";
export type { Action, AskAction, EventWithoutTime, Script } from "./script/script.ts";
export { type SimulateOptions, type Simulation, type SimulationCounts, simulate } from "./simulate.ts";
