export type { Example, ExampleTokens, Pair } from "./examples/example.ts";
export { type DoubtfulTool, linearise, type Linearised, type LineariseOptions } from "./examples/linearise.ts";
export { type Paired, type PairOptions, pairsOf, type PromptsWithoutPairs } from "./examples/pairs.ts";
export { type ImportDatasetOptions, importDataset, type ImportedDataset, type RowFormat } from "./formats/read.ts";
export {
  type Dataset,
  type DatasetLoss,
  type DatasetOrigin,
  datasetReport,
  jsonLines,
  toDpo,
  toSft,
  toTrl,
  type TrlOptions,
  toTrlPreferences,
} from "./formats/write.ts";
export {
  type CalledTool,
  type RerunConversation,
  type RerunFigures,
  type RerunOptions,
  type RerunReport,
  type RerunSide,
  rerunTable,
  type RerunTurn,
  type SaidTurn,
} from "./rerun/report.ts";
export { rerun } from "./rerun/rerun.ts";
export type { LeftOut, LeftOutBecause } from "../turns/examples.ts";
export type { Metric } from "../turns/turns.ts";
