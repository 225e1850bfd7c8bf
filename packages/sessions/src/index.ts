export type { CallHandle, CallOptions, GivenHistory } from "./run/call.ts";
export type { SessionOptions, Summariser } from "./threads/options.ts";
export type { Trace, TraceNode } from "./run/trace.ts";
export { predict, type PredictOptions, react, type ReactOptions } from "./program/predict.ts";
export type { Exchange, GivenExchange } from "./program/exchange.ts";
export type { Fields } from "./program/exchange.ts";
export type { Memory, TurnSummary } from "./program/memory.ts";
export type { CallPart, NestedAskOptions, Program, ProgramContext, ProgramFunction } from "./program/program.ts";
export { type Signature, SignatureError } from "./program/program.ts";
export type { RecordedExampleOptions, Records } from "./records.ts";
export { type DspyOptions, type DspySession, fromDspySession } from "./saved/from-dspy-session.ts";
export type { SavedSession } from "./saved/saved-session.ts";
export {
  type ExampleHistory,
  type ExampleOptions,
  type Examples,
  mergeExamples,
  type ProgramExample,
} from "./turns/examples.ts";
export type { LeftOut, LeftOutBecause } from "./turns/examples.ts";
export { type Metric, scoreOf, type ScoreOptions } from "./turns/turns.ts";
export { session, type Session } from "./session.ts";
export type { TurnPrompt } from "./turns/prompts.ts";
export type { SessionTurn } from "./turns/turns.ts";
