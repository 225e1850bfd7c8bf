import type { Json } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { answerLevels } from "./check.ts";

/**
 * The value of a JSON text so far, while it arrives piece by piece, with or without a code fence around it. A leaf is
 * included once it cannot grow any more: a string after its closing quote, a number or a literal after the next
 * delimiter. Each character is read once. If the text turns out not to be JSON, the value stays as it was before.
 */
export class PartialJson {
  #root: { readonly value: Json } | null = null;
  readonly #open: Container[] = [];
  /** The string, number or literal that is being written; null between them. */
  #token: { readonly isText: boolean; raw: string } | null = null;
  #escaped = false;
  #place: "before" | "fence" | "inside" | "over" = "before";
  /** How often `value` has changed. */
  changes = 0;

  /** A copy of the value; undefined while there is none. Copying takes time in proportion to its size. */
  get value(): Json | undefined {
    return this.#root === null ? undefined : frozenCopy(this.#root.value);
  }

  add(text: string): void {
    for (let index = 0; index < text.length && this.#place !== "over"; index++) this.#take(text.charAt(index));
  }

  #take(character: string): void {
    if (this.#place === "fence") {
      if (character === "\n") this.#place = "inside";
      return;
    }
    if (this.#token !== null) {
      if (this.#grows(this.#token, character)) return;
    }
    if (spaces.includes(character)) return;
    if (this.#place === "before") this.#place = character === "`" ? "fence" : "inside";
    if (this.#place === "inside") this.#structure(character);
  }

  /** Adds a character to the token that is being written. Returns whether it belonged to it. */
  #grows(token: { readonly isText: boolean; raw: string }, character: string): boolean {
    const ends = token.isText ? character === '"' && !this.#escaped : delimiters.includes(character);
    if (!ends || token.isText) token.raw += character;
    this.#escaped = token.isText && character === "\\" && !this.#escaped;
    if (!ends) return true;
    this.#token = null;
    this.#leaf(token.raw);
    return token.isText;
  }

  #structure(character: string): void {
    const container = this.#open.at(-1);
    switch (character) {
      case "{":
      case "[":
        return this.#begin(character === "{" ? { members: {}, name: null } : { elements: [] });
      case "}":
      case "]":
        if (container === undefined || (character === "}") !== "members" in container) return this.#end();
        this.#open.pop();
        if (this.#open.length === 0) this.#end();
        return;
      case ",":
      case ":":
        return;
      default:
        this.#token = { isText: character === '"', raw: character };
    }
  }

  #begin(container: Container): void {
    // An answer with deeper nesting is refused, and could not be copied.
    if (this.#open.length === answerLevels) return this.#end();
    this.#put("members" in container ? container.members : container.elements);
    this.#open.push(container);
  }

  #leaf(raw: string): void {
    const container = this.#open.at(-1);
    try {
      // JSON.parse returns JSON.
      const value = JSON.parse(raw) as Json;
      if (container === undefined || "elements" in container || container.name !== null) this.#put(value);
      else if (typeof value === "string") container.name = value;
      else this.#end();
    } catch {
      this.#end();
    }
  }

  #put(value: Json): void {
    const container = this.#open.at(-1);
    if (container === undefined) this.#root = { value };
    else if ("elements" in container) container.elements.push(value);
    else if (container.name === null) return this.#end();
    else {
      // Every object may inherit a property of this name, so it is defined, not assigned.
      Object.defineProperty(container.members, container.name, { value, ...ordinary });
      container.name = null;
    }
    this.changes++;
  }

  #end(): void {
    this.#place = "over";
  }
}

type Container = { readonly members: { [name: string]: Json }; name: string | null } | { readonly elements: Json[] };

const ordinary = { enumerable: true, writable: true } as const;
const spaces = " \t\n\r";
const delimiters = " \t\n\r,:]}";

/** Shows an output so far, at intervals that grow with it: all copies cost as much as a few dozen wholes. */
export class ShownOutput {
  readonly #json = new PartialJson();
  #length = 0;
  #shownLength = 0;
  #shownChanges = 0;

  /** Returns the value to show after a piece of text; undefined if nothing changed, or too little for a long output. */
  add(text: string): Json | undefined {
    this.#json.add(text);
    this.#length += text.length;
    if (this.#json.changes === this.#shownChanges) return undefined;
    if (this.#length - this.#shownLength < this.#shownLength / minSteps) return undefined;
    this.#shownLength = this.#length;
    this.#shownChanges = this.#json.changes;
    return this.#json.value;
  }
}

/** The least number of steps in which an output is shown while its length doubles. */
const minSteps = 64;
