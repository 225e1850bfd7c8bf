export type { CallHandle, CallOptions, CallPart, GivenHistory } from "./call/call.ts";
export type { SessionOptions, Summariser } from "./core/options.ts";
export type { Fields, GivenExchange } from "./program/fields.ts";
export type { Exchange, Memory } from "./program/memory.ts";
export type { NestedAskOptions, Program, ProgramContext, ProgramFunction } from "./program/program.ts";
export { type Signature, SignatureError } from "./program/signature.ts";
export { session, type Session } from "./session.ts";
export type { SessionTurn } from "./thread/turns.ts";
