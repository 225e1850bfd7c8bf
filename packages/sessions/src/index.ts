export type { CallHandle, CallOptions, GivenHistory } from "./call/call.ts";
export type { SessionOptions, Summariser } from "./core/options.ts";
export type { Trace, TraceNode } from "./nesting/trace.ts";
export { predict, type PredictOptions } from "./predict/predict.ts";
export { react, type ReactOptions } from "./predict/react.ts";
export type { Exchange, GivenExchange } from "./program/exchange.ts";
export type { Fields } from "./program/fields.ts";
export type { Memory, TurnSummary } from "./program/memory.ts";
export type { CallPart } from "./program/parts.ts";
export type { NestedAskOptions, Program, ProgramContext, ProgramFunction } from "./program/program.ts";
export { type Signature, SignatureError } from "./program/signature.ts";
export type { RecordedExampleOptions, Records } from "./records.ts";
export { type DspyOptions, type DspySession, fromDspySession } from "./saved/from-dspy-session.ts";
export type { SavedSession } from "./saved/saved-session.ts";
export {
  type Example,
  type ExampleHistory,
  type ExampleOptions,
  type Examples,
  type LeftOut,
  mergeExamples,
} from "./score/examples.ts";
export { type Metric, scoreOf, type ScoreOptions } from "./score/score.ts";
export { session, type Session } from "./session.ts";
export type { TurnPrompt } from "./shown/turn-prompt.ts";
export type { SessionTurn } from "./thread/turns.ts";
