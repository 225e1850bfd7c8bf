export type * from "./examples/example.ts";
export { type DoubtfulTool, linearise, type Linearised, type LineariseOptions } from "./examples/linearise.ts";
export { type Paired, type PairOptions, pairsOf, type PromptsWithoutPairs } from "./examples/pairs.ts";
export { type ImportDatasetOptions, importDataset, type ImportedDataset } from "./formats/read.ts";
export { type DatasetOrigin, datasetReport } from "./formats/report.ts";
export type { RowFormat } from "./formats/row.ts";
export {
  type Dataset,
  type DatasetLoss,
  jsonLines,
  toDpo,
  toSft,
  toTrl,
  type TrlOptions,
  toTrlPreferences,
} from "./formats/write.ts";
export type { RerunOptions, SaidTurn } from "./rerun/options.ts";
export type * from "./rerun/report.ts";
export { rerun } from "./rerun/rerun.ts";
export { rerunTable } from "./rerun/table.ts";
export type { LeftOut, LeftOutBecause } from "../turns/left-out.ts";
export type { Metric } from "../turns/score.ts";
