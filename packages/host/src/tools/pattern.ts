import * as Either from "fp-ts/lib/Either.js";

export interface Pattern {
  /** Returns whether it matches a part of the text, in at most `size + 1` steps for each character. */
  readonly test: (text: string, spend: (steps: number) => void) => boolean;
  readonly size: number;
}

/**
 * Reads a pattern in the syntax of JavaScript with the flag `u`, or says why it cannot be matched in linear time. The
 * states of the pattern advance through the text together, so no character is read twice by one state. Lookaheads and
 * lookbehinds are matched the same way, once for all places of a text.
 */
export const patternOf = (source: string): Either.Either<string, Pattern> => {
  try {
    if (source.length > sourceMax) throw new NotLinear(`it is longer than ${sourceMax} characters`);
    // Throws for wrong syntax, so that the reader below meets only valid patterns.
    void new RegExp(source, "u");
    const builder = new Builder();
    const start = builder.build(new Reader(source).read(), accepting, true);
    return Either.right({
      size: builder.size + (source.match(/\\p/gi)?.length ?? 0) * propertySize,
      test: (text, spend) => {
        spend(text.length);
        return new Run(Array.from(text), spend).ends(start, true, 1).includes(true);
      },
    });
  } catch (thrown) {
    if (thrown instanceof NotLinear) return Either.left(thrown.message);
    // V8 quotes the whole pattern, which may be long, before the reason.
    if (thrown instanceof SyntaxError) return Either.left(thrown.message.split(`/${source}/u: `).pop() ?? "");
    throw thrown;
  }
};

type Part =
  | { readonly type: "character"; readonly fits: (character: string) => boolean }
  | { readonly type: "place"; readonly holds: (run: Run, place: number) => boolean }
  | { readonly type: "look"; readonly part: Part; readonly isAhead: boolean; readonly isNegative: boolean }
  | { readonly type: "sequence" | "choice"; readonly parts: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly min: number; readonly max: number };

class NotLinear extends Error {}

class Reader {
  readonly #source: string;
  #at = 0;
  #levels = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Part {
    const options: Part[] = [];
    do {
      const parts: Part[] = [];
      while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at))) parts.push(this.#term());
      options.push({ type: "sequence", parts });
    } while (this.#take(/\|/y) !== null);
    return { type: "choice", parts: options };
  }

  #term(): Part {
    const part = this.#atom();
    const [, sign, low = "", comma = "", high = ""] = this.#take(/(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y) ?? [""];
    if (sign !== undefined) {
      return { type: "repeat", part, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    }
    return low === ""
      ? part
      : { type: "repeat", part, min: +low, max: high === "" && comma !== "" ? Infinity : +(high || low) };
  }

  #atom(): Part {
    const look = this.#take(/\(\?(<?)([=!])/y);
    if (look !== null)
      return { type: "look", part: this.#group(), isAhead: look[1] === "", isNegative: look[2] === "!" };
    if (this.#take(/\((?:\?:|\?<[^>]*>|(?!\?))/y) !== null) return this.#group();
    if (this.#take(/\(\?/y) !== null) throw new NotLinear("flags inside of it are not supported");
    if (this.#take(/\\(?:[1-9]|k<)/y) !== null) throw new NotLinear("a reference back to a group is not supported");
    const place = this.#take(/\^|\$|\\b|\\B/y);
    if (place !== null) return { type: "place", holds: holdsAt(place[0]) };
    const [character = ""] = this.#take(characterPattern) ?? [];
    if (!/^[.[\\]/.test(character)) return { type: "character", fits: (each) => each === character };
    // A pattern for one character, which the JavaScript engine matches in one step.
    const own = new RegExp(`^${character}$`, "u");
    return { type: "character", fits: (each) => own.test(each) };
  }

  #group(): Part {
    if (++this.#levels > levelsMax) throw new NotLinear(`its groups are nested more than ${levelsMax} deep`);
    const part = this.read();
    this.#levels -= 1;
    this.#at += 1;
    return part;
  }

  #take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source);
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** A class, an escape, or a character by itself; a pair of escaped surrogates is one character. */
const characterPattern =
  /\[(?:\\[^]|[^\\\]])*\]|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\[uPp]\{[^}]*\}|\\x..|\\c.|\\[^]|[^]/uy;

const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character);

const isBoundary = ({ characters }: Run, place: number): boolean =>
  isWord(characters[place - 1]) !== isWord(characters[place]);

const holdsAt = (sign: string): ((run: Run, place: number) => boolean) => {
  if (sign === "^") return (_, place) => place === 0;
  if (sign === "$") return ({ characters }, place) => place === characters.length;
  return sign === "\\b" ? isBoundary : (run, place) => !isBoundary(run, place);
};

/** A state of a match. It leads to `next` by a character, at a place, or freely. */
interface State {
  readonly fits?: (character: string) => boolean;
  readonly holds?: (run: Run, place: number) => boolean;
  readonly next: State[];
  /** The last visit that reached it, so that a visit enters it once. Null before the first. */
  visit: object | null;
}

const accepting: State = { next: [], visit: null };

/** Builds the states of parts, from the last one: each gets the state that follows it. */
class Builder {
  size = 0;

  build(part: Part, next: State, isForward: boolean): State {
    if (++this.size > sizeMax) throw new NotLinear(`it has more than ${sizeMax} parts, counting each repetition`);
    switch (part.type) {
      case "character":
        return { fits: part.fits, next: [next], visit: null };
      case "place":
        return { holds: part.holds, next: [next], visit: null };
      case "look": {
        // Matched against the direction in which it looks. So its ends are the places at which it holds.
        const { isAhead, isNegative } = part;
        const start = this.build(part.part, accepting, !isAhead);
        const holds = (run: Run, place: number): boolean => run.looked(start, !isAhead)[place] !== isNegative;
        return { holds, next: [next], visit: null };
      }
      case "choice":
        return { next: part.parts.map((option) => this.build(option, next, isForward)), visit: null };
      case "sequence": {
        const parts = isForward ? part.parts.toReversed() : part.parts;
        return parts.reduce((after, each) => this.build(each, after, isForward), next);
      }
      case "repeat":
        return this.#repeated(part, next, isForward);
    }
  }

  #repeated({ part, min, max }: Extract<Part, { readonly type: "repeat" }>, next: State, isForward: boolean): State {
    let start = next;
    if (max === Infinity) {
      const again: State = { next: [next], visit: null };
      again.next.push(this.build(part, again, isForward));
      start = again;
    } else
      for (let left = max - min; left > 0; left--) {
        start = { next: [this.build(part, start, isForward), next], visit: null };
      }
    for (let left = min; left > 0; left--) start = this.build(part, start, isForward);
    return start;
  }
}

class Run {
  readonly characters: readonly string[];
  readonly #spend: (steps: number) => void;
  readonly #looked = new Map<State, readonly boolean[]>();

  constructor(characters: readonly string[], spend: (steps: number) => void) {
    this.characters = characters;
    this.#spend = spend;
  }

  /** Returns for each place whether a match that started anywhere ends there, up to `most` such places. */
  ends(start: State, isForward: boolean, most: number): boolean[] {
    const { characters } = this;
    const ends = characters.map(() => false);
    let waiting: State[] = [];
    for (let taken = 0, left = most; taken <= characters.length && left > 0; taken++) {
      const place = isForward ? taken : characters.length - taken;
      waiting.push(start);
      const reached = this.#reached(waiting, place);
      ends[place] = reached.includes(accepting);
      if (ends[place]) left -= 1;
      const character = characters[isForward ? place : place - 1];
      waiting = [];
      for (const { fits, next } of reached)
        if (character !== undefined && fits?.(character) === true) waiting.push(...next);
    }
    return ends;
  }

  looked(start: State, isForward: boolean): readonly boolean[] {
    const known = this.#looked.get(start) ?? this.ends(start, isForward, Infinity);
    this.#looked.set(start, known);
    return known;
  }

  /** Returns the states that are reached at a place without a character. */
  #reached(from: readonly State[], place: number): readonly State[] {
    const visit = {};
    const reached: State[] = [];
    const reach = (state: State): void => {
      if (state.visit !== visit) reached.push(state);
      state.visit = visit;
    };
    for (const each of from) reach(each);
    // The loop also visits the states that are added meanwhile.
    for (const { fits, holds, next } of reached)
      if (fits === undefined && (holds?.(this, place) ?? true)) for (const each of next) reach(each);
    this.#spend(reached.length);
    return reached;
  }
}

/** Repetitions are written out. More than the patterns of mail addresses, host names and IPv6 need (some 500). */
const sizeMax = 10_000;

/** Reading a pattern uses the stack: a class of some million characters overflows it. */
const sourceMax = 100_000;

/** The matcher calls itself for a lookahead within a lookahead: the stack bounds how deeply a pattern may nest them. */
const levelsMax = 100;

/** The JavaScript engine takes as long to compile a Unicode property as for some thousand steps. */
const propertySize = 5_000;
