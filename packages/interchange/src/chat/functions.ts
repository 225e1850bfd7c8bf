import type { Json, JsonObject } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";
import { saysNothing } from "../exchange/loss.ts";
import type { Notebook } from "../exchange/piece.ts";
import { orRepair } from "../exchange/pairing.ts";

/**
 * Reads the functions that chat completions had before tools. A message with a `function_call` calls a tool, and one
 * with the role `function` is its result. They have no ids, so they are matched by the function's name. A result
 * without an earlier call is reported and left out (undefined).
 */
export class FunctionReader {
  readonly #book: Notebook;
  /** The last called function without a result. */
  #called: string | null = null;

  constructor(book: Notebook) {
    this.#book = book;
  }

  /** Returns the message in the form with tools. */
  read(wire: Json, index: number): Json | undefined {
    if (!isJsonObject(wire)) return wire;
    if (wire["role"] === "assistant") return this.#call(wire, index);
    return wire["role"] === "function" ? this.#result(wire, index) : wire;
  }

  #call(wire: JsonObject, index: number): JsonObject {
    const { function_call: called, ...rest } = wire;
    const name = isJsonObject(called) ? called["name"] : undefined;
    // Some servers write both forms.
    if (called === undefined || typeof name !== "string" || name === "" || !saysNothing(rest["tool_calls"]))
      return wire;
    this.#called = name;
    this.#book.loseAt(index)("function_call", `the form of the call of "${name}"`, goesBackAsTool);
    return { ...rest, tool_calls: [{ type: "function", function: called }] };
  }

  #result(wire: JsonObject, index: number): JsonObject | undefined {
    const name = typeof wire["name"] === "string" ? wire["name"] : (this.#called ?? "");
    const answers = this.#called !== null && this.#called === name;
    if (!answers) {
      const what = `the result of the function "${name}"`;
      this.#book.mend({
        index,
        reason: `item ${index} is ${what}, which no item before it waits for: leave it out, or give the call as well, as the function_call of an assistant message${orRepair}`,
        repair: { index, path: "", what, why: "no item before it waits for it" },
      });
      return undefined;
    }
    this.#called = null;
    this.#book.loseAt(index)("role", `the form of the result of "${name}"`, goesBackAsTool);
    return { ...wire, role: "tool" };
  }
}

const goesBackAsTool = "a thread has tool calls and their results, and gives it back as one";
