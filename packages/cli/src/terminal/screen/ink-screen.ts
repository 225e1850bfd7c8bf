import type {
  ScreenConversation,
  ScreenOptions,
  TerminalInput,
  TerminalOutput,
  Shown,
} from "../conversation/screen-port.ts";
import type { Line, Size } from "../text/line.ts";
import { painted } from "../text/theme.ts";
import { InkOutput, Frame, inkOn, type Rows } from "./ink.ts";
import { liveRegion, type LiveRegion } from "./live-region.ts";
import { StringDecoder } from "node:string_decoder";
import type { Key } from "../input/key.ts";
import { KeyReader } from "../input/key-reader.ts";
import type { Instance } from "ink";
import { createElement as h } from "react";
import { cutLine, wrapped } from "../text/wrap.ts";

/** Runs the screen itself; `runScreen` loads this module on demand. */
export const runInkScreen = (options: ScreenOptions): Promise<void> => new Screen(options).run();

class Screen {
  readonly #input: TerminalInput;
  readonly #output: TerminalOutput;
  readonly #paint: Paint;
  readonly #modes: TerminalModes;
  readonly #region: LiveRegion;
  readonly #alternate: AlternateScreen;
  readonly #conversation: ScreenConversation;
  readonly #pace = paceOf(() => this.#trying(() => this.#draw()));
  readonly #gone = Promise.withResolvers<void>();
  /** The number of finished blocks that are written. */
  #written = 0;
  #toWrite: Line[] = [];
  /** Another program has the terminal. */
  #isAway = false;

  constructor({ conversation, input, output, theme }: ScreenOptions) {
    this.#input = input;
    this.#output = output;
    this.#paint = (line) => painted(line, theme);
    this.#modes = terminalModes(input, output);
    this.#region = liveRegion(new InkOutput(output), input, () => this.#leave());
    this.#alternate = alternateScreen(new InkOutput(output), input);
    this.#conversation = conversation({
      suspend: (run) => this.#suspend(run),
      stop: () => this.#stop(),
      reprint: (lines) => {
        this.#toWrite.push(...lines);
        this.#pace.ask();
      },
      copy: (text) => this.#copy(text),
      bell: () => void output.write("\x07"),
    });
  }

  async run(): Promise<void> {
    const resized = (): void => this.#pace.ask();
    const gone = (): void => this.#gone.resolve();
    const goesOn = (): void => this.#trying(() => this.#goOn());
    const forget = this.#conversation.onChange(() => this.#pace.ask());
    const stopReading = readKeys(this.#input, (key) => this.#trying(() => this.#conversation.press(key, this.#size)));
    this.#output.on("resize", resized);
    process.on("SIGCONT", goesOn);
    for (const event of ["end", "close", "error"]) this.#input.on(event, gone);
    this.#modes.on();
    this.#pace.now();
    try {
      await Promise.race([this.#conversation.ended, this.#gone.promise]);
      this.#alternate.leave();
      this.#draw();
    } finally {
      forget();
      this.#pace.stop();
      await this.#region.flushed();
      stopReading();
      this.#output.off("resize", resized);
      process.off("SIGCONT", goesOn);
      for (const event of ["end", "close", "error"]) this.#input.off(event, gone);
      this.#region.end();
    }
  }

  get #size(): Size {
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  #draw(): void {
    if (this.#isAway) return;
    const shown = this.#conversation.shown();
    if (shown.view !== null) {
      if (!this.#alternate.isEntered()) this.#region.erase();
      this.#alternate.draw(viewRows(shown, this.#size, this.#paint));
      return;
    }
    this.#alternate.leave();
    const { columns, rows } = this.#size;
    const finished = shown.finished.slice(this.#written).flatMap(({ lines }) => lines(columns, rows));
    this.#written = shown.finished.length;
    const lines = [...finished, ...this.#toWrite.splice(0)];
    // Called before writing, so that a key after the text is visible counts as later than this moment.
    this.#conversation.drawn();
    this.#region.draw(lines.map((line) => `${this.#paint(line)}\n`).join(""), liveRows(shown, this.#size, this.#paint));
  }

  async #suspend(run: () => Promise<void> | void): Promise<void> {
    this.#region.erase();
    this.#leave();
    try {
      await run();
    } finally {
      this.#comeBack();
    }
  }

  #stop(): void {
    this.#region.erase();
    this.#leave();
    // Stops the whole process group, as the terminal would. The next line runs after the shell continues it.
    process.kill(0, "SIGTSTP");
    setImmediate(() => this.#comeBack());
  }

  /** Redraws after something else stopped the process, since a shell may have used the terminal meanwhile. */
  #goOn(): void {
    if (this.#isAway) return;
    this.#modes.renew();
    this.#alternate.leave();
    this.#region.erase();
    this.#pace.now();
  }

  #leave(): void {
    this.#isAway = true;
    this.#alternate.leave();
    this.#modes.off();
  }

  #comeBack(): void {
    this.#isAway = false;
    this.#modes.on();
    this.#pace.now();
  }

  #copy(text: string): boolean {
    const encoded = Buffer.from(text).toString("base64");
    if (encoded.length > copiedMax) return false;
    this.#output.write(`\x1b]52;c;${encoded}\x07`);
    return true;
  }

  #trying(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.#gone.reject(thrown);
    }
  }
}

/** 30 frames a second. */
const frameMs = 33;
/** The smallest limit of common terminals, in characters. */
const copiedMax = 74_994;

interface Pace {
  /** Draws soon, at a limited rate. */
  readonly ask: () => void;
  readonly now: () => void;
  readonly stop: () => void;
}

const paceOf = (draw: () => void): Pace => {
  let last = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const now = (): void => {
    stop();
    last = performance.now();
    draw();
  };
  return { ask: () => void (timer ??= setTimeout(now, Math.max(0, last + frameMs - performance.now()))), now, stop };
};

/**
 * Reads keys from a terminal's input, in any pieces. Returns a function that stops it. A line that was typed before the
 * raw mode ends with a line feed instead of Enter.
 */
export const readKeys = (input: NodeJS.ReadableStream, press: (key: Key) => void): (() => void) => {
  const reader = new KeyReader();
  const decoder = new StringDecoder("utf8");
  let timer: NodeJS.Timeout | undefined;
  let late: NodeJS.Immediate | undefined;
  const waitNoLonger = (): void => {
    clearTimeout(timer);
    clearImmediate(late);
  };
  const pressed = (keys: readonly Key[]): void => {
    for (const key of keys) press(key);
    if (reader.waitMs === null) return;
    timer = setTimeout(() => {
      // If the process was busy, some input may be unread; it is read first.
      late = setImmediate(() => pressed(reader.flush()));
    }, reader.waitMs);
  };
  let isFirst = true;
  const read = (chunk: Buffer | string): void => {
    waitNoLonger();
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    pressed(reader.read(isFirst ? text.replace(lineTypedBefore, "$1\r") : text));
    isFirst = false;
  };
  input.on("data", read);
  return () => {
    waitNoLonger();
    input.off("data", read);
  };
};

const lineTypedBefore = /^([^\r\n]+)\n$/;

interface AlternateScreen {
  readonly isEntered: () => boolean;
  readonly draw: (rows: Rows) => void;
  readonly leave: () => void;
}

/** The alternate screen for full-screen views: entered with the first frame; leaving it restores the normal screen. */
const alternateScreen = (output: InkOutput, input: NodeJS.ReadableStream): AlternateScreen => {
  let ink: Instance | null = null;
  let size = "";
  return {
    isEntered: () => ink !== null,
    draw: (rows) =>
      output.together(() => {
        const before = size;
        size = output.size;
        if (ink === null) {
          ink = inkOn(output, input, rows, { alternateScreen: true });
          output.write(keyboardOn);
          return;
        }
        if (size !== before) {
          output.silently(() => ink?.clear());
          output.write("\x1b[H\x1b[J");
        }
        ink.rerender(h(Frame, rows));
      }),
    leave: () => {
      const entered = ink;
      ink = null;
      if (entered === null) return;
      output.together(() => {
        output.write(keyboardOff);
        entered.unmount();
      });
    },
  };
};

// Marks pastes, and distinguishes keys that otherwise send the same: `CSI > 1 u` of kitty, which others ignore.
const modesOn = "\x1b[?2004h\x1b[>1u";
const modesOff = "\x1b[<u\x1b[?2004l\x1b[?25h";

/** The alternate screen has separate keyboard modes. */
const keyboardOn = "\x1b[>1u";
const keyboardOff = "\x1b[<u";

interface TerminalModes {
  readonly on: () => void;
  /** Sets the modes again, because another program may have changed them. */
  readonly renew: () => void;
  /** May be called repeatedly, also while the process ends. */
  readonly off: () => void;
}

const terminalModes = (input: TerminalInput, output: TerminalOutput): TerminalModes => {
  let isOn = false;
  return {
    on: () => {
      if (isOn) return;
      isOn = true;
      input.setRawMode?.(true);
      input.resume();
      output.write(modesOn);
    },
    renew: () => {
      if (!isOn) return;
      // The raw mode comes first: it stops a background process before that writes.
      input.setRawMode?.(false);
      input.setRawMode?.(true);
      output.write(`${modesOff}${modesOn}`);
    },
    off: () => {
      if (!isOn) return;
      isOn = false;
      output.write(modesOff);
      input.pause();
      input.setRawMode?.(false);
    },
  };
};

type Paint = (line: Line) => string;

/**
 * Returns the open lines, the status and the input, on at most half of the rows, because rows that a smaller window
 * pushes out above cannot be erased. The input is last: a resize rewraps the rows below the cursor and would move the
 * cursor. Ink needs one row below.
 */
export const liveRows = (shown: Shown, size: Size, paint: Paint): Rows => {
  const width = size.columns - 1;
  const room = Math.max(1, Math.min(size.rows - 2, Math.max(rowsMin, Math.floor(size.rows / 2))));
  const input = shown.input(size);
  const open = shown.open(size);
  const inputRoom = open.length === 0 ? room : Math.max(1, Math.min(room - 1, Math.floor(room / 2)));
  const { row, column } = input.cursor;
  const first = Math.max(0, Math.min(input.lines.length - inputRoom, row - Math.floor(inputRoom / 2)));
  const inputLines = input.lines.slice(first, first + inputRoom);
  const openLines = endOf(open, width, room - inputLines.length);
  const status = size.rows > 2 ? [shown.status(size)] : [];
  return {
    rows: [...openLines, ...status, ...inputLines].map((line) => paint(cutLine(line, width))),
    cursor: { row: openLines.length + status.length + row - first, column: Math.min(column, width) },
  };
};

const viewRows = ({ view }: Shown, size: Size, paint: Paint): Rows => {
  const { lines, cursor } = view?.show(size) ?? { lines: [] };
  return {
    rows: lines.slice(0, size.rows).map((line) => paint(cutLine(line, size.columns - 1))),
    cursor: cursor ?? null,
  };
};

const rowsMin = 8;

/** Returns the last rows of lines; invisible lines are not wrapped. */
const endOf = (lines: readonly Line[], width: number, room: number): readonly Line[] => {
  const rows: Line[] = [];
  for (const line of lines.toReversed()) {
    if (rows.length >= room) break;
    rows.unshift(...wrapped(line, width).slice(rows.length - room));
  }
  return rows;
};
