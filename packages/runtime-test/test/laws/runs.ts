export { runs, spread } from "../../../../test/runs.ts";
