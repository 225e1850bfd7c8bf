import type { ScreenConversation } from "../conversation/screen-port.ts";
import type { ScreenOptions, TerminalInput, TerminalOutput } from "./screen-options.ts";
import type { Line, Size } from "../text/line.ts";
import { painted } from "../text/paint.ts";
import { AlternateScreen } from "./alternate-screen.ts";
import { liveRows, type Paint, viewRows } from "./frame.ts";
import { InkOutput } from "./ink-output.ts";
import { LiveRegion } from "./live-region.ts";
import { Pace } from "./pace.ts";
import { TerminalModes } from "./terminal-modes.ts";
import { readKeys } from "./typed-keys.ts";

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
  readonly #pace = new Pace(() => this.#trying(() => this.#draw()), frameMs);
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
    this.#modes = new TerminalModes(input, output);
    this.#region = new LiveRegion(new InkOutput(output), input, () => this.#leave());
    this.#alternate = new AlternateScreen(new InkOutput(output), input);
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
    return { columns: this.#output.columns ?? 80, rows: this.#output.rows ?? 24 };
  }

  #draw(): void {
    if (this.#isAway) return;
    const shown = this.#conversation.shown();
    if (shown.view !== null) {
      if (!this.#alternate.isEntered) this.#region.erase();
      this.#alternate.draw(viewRows(shown, this.#size, this.#paint));
      return;
    }
    this.#alternate.leave();
    const { columns } = this.#size;
    const finished = shown.finished.slice(this.#written).flatMap(({ lines }) => lines(columns));
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
