export { defaultFaults, type Fault, type Faults, noFaults } from "./world/faults.ts";
export { type Law, SimulationError } from "./world/simulation-error.ts";
export type { Action, AskAction, EventWithoutTime, Script } from "./script/script.ts";
export { simulate, type SimulateOptions, type Simulation, type SimulationCounts } from "./simulate.ts";
