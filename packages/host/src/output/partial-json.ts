import type { Json } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { answerLevels } from "./json-text.ts";

/**
 * What there is of a JSON text while it comes, piece by piece, with or without a code fence around it. A leaf is there once
 * it can't grow any more: a text with its closing quote, a number or a word with what follows it. Each character is looked
 * at once. Of what turns out to be no JSON it has what came before.
 */
export class PartialJson {
  #root: { readonly value: Json } | null = null;
  readonly #open: Container[] = [];
  /** The text or the word that is being written; null between them. */
  #token: { readonly isText: boolean; raw: string } | null = null;
  #escaped = false;
  #place: "before" | "fence" | "inside" | "over" = "before";
  #changes = 0;

  /** How often `value` became another. */
  get changes(): number {
    return this.#changes;
  }

  /** A copy; undefined while there is nothing. Costs what it holds. */
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

  /** Whether a character is one of the text or the word that is being written. */
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
    // An answer that is nested deeper is refused, and no copy could be made of it.
    if (this.#open.length === answerLevels) return this.#end();
    this.#put("members" in container ? container.members : container.elements);
    this.#open.push(container);
  }

  #leaf(raw: string): void {
    const container = this.#open.at(-1);
    try {
      // What JSON.parse returns is JSON.
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
      // A name may be one that every object has.
      Object.defineProperty(container.members, container.name, { value, ...ordinary });
      container.name = null;
    }
    this.#changes++;
  }

  #end(): void {
    this.#place = "over";
  }
}

type Container = { readonly members: { [name: string]: Json }; name: string | null } | { readonly elements: Json[] };

const ordinary = { enumerable: true, configurable: true, writable: true } as const;
const spaces = " \t\n\r";
const delimiters = " \t\n\r,:]}";

/** Shows what there is of an output, so often that all of it together costs as much as a few dozen readings of the whole. */
export class ShownOutput {
  readonly #json = new PartialJson();
  #length = 0;
  #shownLength = 0;
  #shownChanges = 0;

  /** What is to be shown after a piece of text: undefined where nothing is new, or too little of a long output. */
  add(text: string): Json | undefined {
    this.#json.add(text);
    this.#length += text.length;
    if (this.#json.changes === this.#shownChanges) return undefined;
    if (this.#length - this.#shownLength < this.#shownLength / stepsMost) return undefined;
    this.#shownLength = this.#length;
    this.#shownChanges = this.#json.changes;
    return this.#json.value;
  }
}

/** In how many steps an output is shown at least that is twice as long as when it was last shown. */
const stepsMost = 64;
