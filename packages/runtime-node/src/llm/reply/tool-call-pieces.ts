import type { JsonObject } from "@colloquy/machine";
import { isObject, parseJson, textOf } from "./loose-json.ts";

/** The tool calls of a streamed reply, put together from their pieces. */
export interface ToolCallPieces {
  /**
   * Takes one entry of a delta's `tool_calls`, and says which call it belonged to and what was new of its arguments.
   *
   * @param place Where it stands in a list of several; null for one that comes alone.
   */
  readonly add: (piece: JsonObject, place?: number | null) => ToolCallPiece;
  /** The calls so far, in the order in which they began, as they would stand in a message. */
  readonly calls: () => readonly JsonObject[];
}

export interface ToolCallPiece {
  /** Which call it is, from 0, in the order in which they began. */
  readonly position: number;
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Puts tool calls together. Servers distinguish them by `index`, which may be missing, start at 1, or be 0 for all:
 * so a piece begins a call of its own when its index is new, and also when it brings a name under another id, or
 * what can't be the rest of the call before it. Entries of one list that have neither index nor id belong to calls of
 * their own: their places distinguish them.
 */
export const toolCallPieces = (): ToolCallPieces => {
  const calls: GrowingCall[] = [];
  const byIndex = new Map<number, GrowingCall>();
  const byPlace = new Map<number, GrowingCall>();
  const currentOf = (piece: JsonObject, called: JsonObject, place: number | null): GrowingCall | undefined => {
    if (typeof piece["index"] === "number") return byIndex.get(piece["index"]);
    const id = textOf(piece["id"]);
    if (id !== "" || place === null) return sameOrLast(calls, id);
    // What brings no name can't begin a call.
    return byPlace.get(place) ?? (textOf(called["name"]) === "" ? calls.at(-1) : undefined);
  };
  const callOf = (piece: JsonObject, called: JsonObject, place: number | null): GrowingCall => {
    const current = currentOf(piece, called, place);
    if (current !== undefined && !beginsAnother(current, piece, called)) return current;
    const begun: GrowingCall = { position: calls.length, id: null, name: "", arguments: "", custom: false, rest: {} };
    calls.push(begun);
    if (typeof piece["index"] === "number") byIndex.set(piece["index"], begun);
    else if (place !== null) byPlace.set(place, begun);
    return begun;
  };
  return {
    add: (piece, place = null) => {
      const { function: wanted, custom } = piece;
      const called = isObject(wanted) ? wanted : isObject(custom) ? custom : {};
      const call = callOf(piece, called, place);
      call.id ??= typeof piece["id"] === "string" ? piece["id"] : null;
      if (call.id === "") call.id = textOf(piece["id"]);
      call.custom ||= called === custom;
      call.name = joinedName(call, textOf(called["name"]));
      const added = argumentsOf(called["arguments"] ?? called["input"]);
      call.arguments += added;
      if (piece["extra_content"] !== undefined) call.rest = { extra_content: piece["extra_content"] };
      return { position: call.position, id: call.id, name: call.name, arguments: added };
    },
    calls: () => calls.map(wireOf),
  };
};

interface GrowingCall {
  readonly position: number;
  id: string | null;
  name: string;
  arguments: string;
  custom: boolean;
  rest: JsonObject;
}

/** Where pieces have no index: the call of that id, else the one that was begun last. */
const sameOrLast = (calls: readonly GrowingCall[], id: string): GrowingCall | undefined =>
  (id === "" ? undefined : calls.find((call) => call.id === id)) ?? calls.at(-1);

const beginsAnother = (call: GrowingCall, piece: JsonObject, called: JsonObject): boolean => {
  const id = textOf(piece["id"]);
  const name = textOf(called["name"]);
  // A server that gives each piece an id of its own gives the name but once.
  if (name === "" || call.name === "") return false;
  if (id !== "" && call.id !== null && call.id !== "") return id !== call.id;
  if (piece["index"] === undefined && name !== call.name) return true;
  // In this order: what was written so far is long, and read only where something begins.
  return argumentsOf(called["arguments"]).startsWith("{") && parseJson(call.arguments) !== undefined;
};

/** A name comes at once, or again with each piece; one that comes in pieces does so before any arguments. */
const joinedName = (call: GrowingCall, name: string): string =>
  name === "" || name === call.name || call.arguments !== "" ? call.name : call.name + name;

const wireOf = (call: GrowingCall): JsonObject =>
  call.custom
    ? { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments }, ...call.rest }
    : { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments }, ...call.rest };

const argumentsOf = (value: JsonObject[string]): string => {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
};
