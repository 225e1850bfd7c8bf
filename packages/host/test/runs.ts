export { runs } from "../../../test/runs.ts";
