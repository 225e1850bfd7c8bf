// Exports to compare and explain conversations for a person.
export type { ExplanationRule, UnitExplanation, UnitShown } from "./prompt/explain-units.ts";
export { comparePrompts, type NamedJournal } from "./inspect/compare.ts";
export { comparisonTable } from "./inspect/comparison-table.ts";
export type * from "./inspect/comparison.ts";
export { type CostReading, readCost } from "./inspect/cost.ts";
export { differenceTable } from "./inspect/difference-table.ts";
export { differenceBetween, type StateAspect, type StateChange, type StateDifference } from "./inspect/difference.ts";
export { explanationTable } from "./inspect/explanation-table.ts";
export { explain, explainCall, type Explanation, type SummaryExplanation } from "./inspect/explain.ts";
export { figuresOf, sizeOfThread, type ThreadFigures, type ThreadSize, type TurnFigures } from "./inspect/figures.ts";
export type { PromptChange } from "./inspect/prompt-difference.ts";
export { describeDifference, type Difference, replay, type ReplayOptions } from "./inspect/replay.ts";
export { type Column, firstWords, textTable } from "./inspect/text-table.ts";
export { foldable, type TreeRow, treeRows, type TurnTree, turnTree } from "./inspect/turn-tree.ts";
