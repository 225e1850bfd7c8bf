export { defaultFaults, type Fault, type Faults, noFaults } from "./faults.ts";
export { type Law, SimulationError } from "./simulation-error.ts";
export type { Action, AskAction, EventWithoutTime, Script } from "./script.ts";
export { simulate, type SimulateOptions, type Simulation, type SimulationCounts } from "./simulate.ts";
