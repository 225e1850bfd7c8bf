export { clausesOf } from "./spoken.ts";
export {
  DialogueHistory,
  type DialogueHistoryOptions,
  type RecordedUtterance,
  type Utterance,
} from "./dialogue-history.ts";
export { interrupt, type Interrupted, type InterruptedAt } from "./interrupt.ts";
export { spokenOf, type SpokenTo } from "./spoken.ts";
export type { Tokenize } from "./dialogue-history.ts";
