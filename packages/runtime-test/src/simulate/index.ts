export { defaultFaults, type Fault, type Faults, noFaults } from "./world/faults.ts";
export { type Law, SimulationError } from "./world/simulation-error.ts";
export type { Action, AskAction, EventWithoutTime, Script } from "./script/script.ts";
export type { SimulateOptions, Simulation, SimulationCounts } from "./options.ts";
export { simulate } from "./simulate.ts";
