/**
 * Streaming Markdown. However a text is split, it gives the same blocks, each once. The work is proportional to its
 * length.
 */
export class MarkdownStream {
  readonly #reader = new BlockReader();
  #partial = "";

  add(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#partial += first;
    for (const next of rest) {
      this.#reader.line(withoutReturn(this.#partial));
      this.#partial = next;
    }
  }

  /** Returns the blocks that became final since the last call. */
  take(): readonly MarkdownBlock[] {
    return this.#reader.finished.splice(0);
  }

  /** Ends the text, and returns its remaining blocks. */
  end(): readonly MarkdownBlock[] {
    if (this.#partial !== "") this.#reader.line(withoutReturn(this.#partial));
    this.#partial = "";
    this.#reader.end();
    return this.take();
  }

  /** Returns the block that may still change, if there is one; only the end of a long one. */
  open(): readonly MarkdownBlock[] {
    const block = this.#reader.open(withoutReturn(this.#partial));
    return block === null ? [] : [block];
  }
}

/** Returns the blocks of a whole text. */
export const markdownBlocks = (markdown: string): readonly MarkdownBlock[] => {
  const stream = new MarkdownStream();
  stream.add(markdown);
  return stream.end();
};

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/**
 * Finds Markdown blocks line by line. The lines so far determine the end of a block, so the splitting of a text does
 * not matter. No line is read twice.
 */
class BlockReader {
  /** The blocks that no further line changes, in order. The reader empties it. */
  readonly finished: MarkdownBlock[] = [];
  #open: OpenBlock | null = null;
  /** The list of the newest item. */
  #list: List | null = null;
  /** Whether an empty line was read since the last other line. */
  #isBlank = false;
  #before: Kind | null = null;

  /** Reads the next line, without its line end. */
  line(text: string): void {
    const open = this.#open;
    if (open?.kind === "code") return this.#codeLine(open, text);
    if (text.trim() === "") return this.#blankLine();
    if (open !== null && this.#goesOn(open, text)) return this.#push(open, text);
    const setext = open?.kind === "paragraph" && !this.#isBlank && /^ {0,3}(?:-+|=+)[ \t]*$/.test(text);
    if (setext) {
      open.lines.push(text);
      return this.#close();
    }
    this.#begin(text);
  }

  /** Ends the text. */
  end(): void {
    this.#close();
  }

  /** Returns the open block, with the beginning of its next line; null if there is none. */
  open(partial: string): MarkdownBlock | null {
    const open = this.#open;
    const isFence = open?.kind === "code" && new RegExp(`^ {0,3}${open.fence?.charAt(0)}*[ \\t]*$`).test(partial);
    const next = isFence || partial.trim() === "" ? [] : [partial];
    if (open !== null) return blockOf(open, tailOf([...open.lines, ...next]));
    return next.length === 0
      ? null
      : { source: tailOf(next), gap: this.#isBlank && this.#before !== null, number: null, code: null };
  }

  #blankLine(): void {
    // An item may continue after an empty line.
    if (this.#open?.kind !== "item") this.#close();
    else if (this.#open.fence !== null) return void this.#open.lines.push("");
    this.#isBlank = true;
  }

  /** Returns whether a line belongs to the open block. */
  #goesOn(open: OpenBlock, text: string): boolean {
    if (open.kind === "item") {
      const indent = indentOf(text);
      if (indent >= open.indent || (indent >= 2 && bullet.test(text.trimStart()))) return true;
      return !this.#isBlank && open.fence === null && !interrupts(text) && !listItem.test(text);
    }
    if (open.kind === "quote" && quote.test(text)) return true;
    return (open.kind === "quote" || open.kind === "paragraph") && !interrupts(text) && !/^ {0,3}=+[ \t]*$/.test(text);
  }

  #push(open: OpenBlock, text: string): void {
    if (this.#isBlank) open.lines.push("");
    this.#isBlank = false;
    open.lines.push(text);
    if (open.kind === "item") open.fence = fenceAfter(open.fence, text.trimStart());
  }

  #begin(text: string): void {
    this.#close();
    const item = listItem.exec(text);
    const fence = topFence.exec(text);
    if (fence !== null) {
      const [, indent = "", mark = "", language = ""] = fence;
      this.#openBlock("code", [], {
        indent: indent.length,
        fence: mark,
        code: { language: language.trim(), isFirst: true },
      });
    } else if (heading.test(text) || rule.test(text)) {
      this.#openBlock(heading.test(text) ? "heading" : "rule", [text]);
      this.#close();
    } else if (item !== null) {
      const [all = "", marker = ""] = item;
      const kind = marker.slice(-1);
      const isNumbered = /\d/.test(marker);
      const number = isNumbered ? (this.#list?.kind === kind ? this.#list.next : Number(marker.slice(0, -1))) : null;
      this.#openBlock("item", [text], {
        indent: all.length,
        fence: fenceAfter(null, text.slice(all.length)),
        number,
      });
      this.#list = { kind, next: (number ?? 0) + 1 };
    } else this.#openBlock(quote.test(text) ? "quote" : "paragraph", [text]);
  }

  #openBlock(kind: Kind, lines: string[], rest: Partial<OpenBlock> = {}): void {
    if (kind !== "item") this.#list = null;
    const stands = (each: Kind | null): boolean => each === "code" || each === "heading";
    const gap = this.#before !== null && (this.#isBlank || stands(kind) || stands(this.#before));
    this.#isBlank = false;
    this.#open = { kind, lines, gap, number: null, code: null, indent: 0, fence: null, ...rest };
  }

  #codeLine(open: OpenBlock, text: string): void {
    const { fence, indent } = open;
    const closing = /^ {0,3}(`+|~+)[ \t]*$/.exec(text)?.[1] ?? "";
    if (fence !== null && closing.startsWith(fence)) return this.#close();
    open.lines.push(text.slice(Math.min(indentOf(text), indent)));
    const { length } = open.lines;
    // Split at a place after which the colours hardly depend on the text before.
    if (length < partMin || (length < partMax && text.trim() !== "")) return;
    this.finished.push(blockOf(open, open.lines.join("\n")));
    open.lines = [];
    open.gap = false;
    open.code = { language: open.code?.language ?? "", isFirst: false };
  }

  #close(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    this.#before = open.kind;
    if (open.lines.length > 0 || open.code?.isFirst === true) this.finished.push(blockOf(open, open.lines.join("\n")));
  }
}

type Kind = "paragraph" | "heading" | "rule" | "quote" | "item" | "code";

interface OpenBlock {
  readonly kind: Kind;
  lines: string[];
  gap: boolean;
  readonly number: number | null;
  code: MarkdownBlock["code"];
  /** For an item, the column of its text; for a code block, its indent. */
  readonly indent: number;
  /** The fence that opened it, and closes it. */
  fence: string | null;
}

interface List {
  /** The character after the number, or the bullet. */
  readonly kind: string;
  readonly next: number;
}

const blockOf = ({ gap, number, code }: OpenBlock, source: string): MarkdownBlock => ({ source, gap, number, code });

/** Returns the end of an open block, since only its end is on the screen. */
const tailOf = (lines: readonly string[]): string => {
  const source = lines.slice(-tailLines).join("\n");
  return source.length <= tailMax ? source : source.slice(source.indexOf(" ", source.length - tailMax) + 1);
};

const tailLines = 200;
const tailMax = 4000;
const partMin = 24;
const partMax = 64;

const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const quote = /^ {0,3}>/;
const bullet = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const listItem = /^ {0,3}([-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)|[ \t]|$)/;
const topFence = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/** Returns whether a line ends a paragraph without an empty line before it. */
const interrupts = (text: string): boolean =>
  heading.test(text) ||
  quote.test(text) ||
  topFence.test(text) ||
  rule.test(text) ||
  /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(text);

const indentOf = (text: string): number =>
  /^ */.exec(text.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)))?.[0].length ?? 0;

/** Returns the fence that is open after a line of an item. */
const fenceAfter = (before: string | null, text: string): string | null => {
  const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0];
  if (mark === undefined) return before;
  if (before === null) return mark;
  return mark.startsWith(before) && text.trim() === mark ? null : before;
};

/**
 * An independent piece of Markdown: a paragraph, a heading, a table, a quote, one item of a list, or some lines of a
 * code block. Plain data; `markdownBlockLines` lays it out.
 */
export interface MarkdownBlock {
  /** For code, its lines without the fences. */
  readonly source: string;
  /** Whether an empty line precedes it. */
  readonly gap: boolean;
  /** The number of an item in a numbered list. */
  readonly number: number | null;
  readonly code: CodePart | null;
}

/** The text after the opening fence, shown above the first part. */
export interface CodePart {
  readonly language: string;
  readonly isFirst: boolean;
}
