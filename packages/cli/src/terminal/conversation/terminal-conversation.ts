import { commandIn, completableCommands, performCommand, slashCommands } from "../commands/commands.ts";
import type { CommandTarget } from "../commands/command.ts";
import { type Action, type Keymap, keymaps } from "../input/keymap.ts";
import type { Key } from "../input/key.ts";
import { failureText } from "../text/failure-text.ts";
import type { Size, Line } from "../text/line.ts";
import type { Turn } from "@colloquy/machine";
import type { View, ViewAction, ViewStep } from "../views/view.ts";
import { ApprovalKeys } from "./approval-keys.ts";
import type { Block } from "../blocks/block.ts";
import { waitingLines, blockLines } from "../blocks/block-lines.ts";
import { Exchange } from "./exchange.ts";
import { RunningTools } from "./running-tools.ts";
import type { ScreenConversation, Shown, FinishedLines } from "./screen-port.ts";
import { type Status, statusText, threadStatus } from "./status-text.ts";
import type { TerminalConversationOptions } from "./options.ts";
import { performViewAction, questionOf, screenTarget } from "./screen-target.ts";
import { isShellLine, ShellLines } from "./shell-lines.ts";
import { TypedInput } from "./typed-input.ts";

/** Makes a conversation on a host's thread, for a screen: keys change it, and its content is drawn. */
export const terminalConversation = (options: TerminalConversationOptions): ScreenConversation =>
  new TerminalConversation(options);

class TerminalConversation implements ScreenConversation {
  readonly #ending = Promise.withResolvers<void>();
  readonly ended: Promise<void> = this.#ending.promise;
  readonly #options: TerminalConversationOptions;
  readonly #keymap: Keymap;
  readonly #exchange: Exchange;
  readonly #listeners = new Set<() => void>();
  readonly #scrollback: Scrollback;
  readonly #input: TypedInput;
  readonly #offers = new ArgumentOffers();
  readonly #shell: ShellLines | null;
  /** The view on the alternate screen, if there is one. */
  #view: View | null = null;
  #figures: readonly string[] = [];
  /** The action whose key was pressed once, and must be pressed twice. */
  #armed: Status["armed"] = null;
  #performed = "";
  /** The refused line that is in the input, until a key is pressed. */
  #refused = "";
  readonly #approvalKeys: ApprovalKeys;
  readonly #running: RunningTools;
  /** The turn of the earlier question that is being edited, to be asked again as a branch from its parent. */
  #edited: Pick<Turn, "number" | "parent"> | null = null;

  constructor(options: TerminalConversationOptions) {
    this.#options = options;
    this.#keymap = options.keymap ?? keymaps.standard;
    const { threadId, signal } = options;
    this.#input = new TypedInput(() => completableCommands(this.#offers.known), options);
    this.#scrollback = new Scrollback(options.detail === "all");
    this.#shell = options.shell === undefined ? null : new ShellLines(options.shell, (text) => this.#notice(text));
    this.#exchange = new Exchange(threadId, {
      ...options,
      contentOf: (text) => {
        const content = options.attachments?.contentOf(text) ?? text;
        return this.#shell?.attach(text, content) ?? content;
      },
      show: (block) => this.#show(block),
      notAsked: (text) => this.#shell?.detach(text),
      giveBack: (text) => this.#input.giveBack(text),
      changed: () => this.#changed(),
      done: (isBehindAnswer) => this.#done(isBehindAnswer),
    });
    const now = options.now ?? ((): number => performance.now());
    this.#approvalKeys = new ApprovalKeys(this.#exchange, now);
    this.#running = new RunningTools(now, () => this.#changed());
    const quit = (): void => this.#quit();
    signal?.addEventListener("abort", quit);
    void this.ended.then(() => signal?.removeEventListener("abort", quit));
    if (signal?.aborted === true) quit();
    else void this.#begin();
  }

  shown(): Shown {
    return {
      finished: this.#scrollback.finished,
      open: (size) => {
        const { steered, queue } = this.#exchange;
        const open = this.#scrollback.linesOf(this.#running.timed(this.#exchange.open), size, false);
        return [...open, ...waitingLines(steered, queue, size.columns)];
      },
      input: (size) => this.#input.frame(size, prompts[this.#approvalKeys.begun ?? "question"]),
      status: ({ columns }) => [{ text: this.#status(columns - 1), roles: ["dim"] }],
      view: this.#view,
    };
  }

  drawn(): void {
    if (this.#view === null) this.#approvalKeys.drawn();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  press(key: Key, size: Size): void {
    const action = key.type === "key" ? (this.#keymap[key.name] ?? "nothing") : undefined;
    const isFree = this.#view === null && !this.#input.isSearching && this.#input.text === "";
    const isAnswer = this.#approvalKeys.press(key, isFree);
    // Typing replaces a refused line, unless it begins with a space; any other key edits it.
    const isRefused = this.#refused !== "" && this.#input.text === this.#refused;
    if (isRefused && key.type === "text" && !key.text.startsWith(" ")) this.#input.replace("");
    this.#refused = "";
    if (this.#view !== null) this.#pressInView(this.#view, key, size, action);
    else if (this.#input.isSearching) this.#search(key, action);
    else if (action !== undefined) this.#perform(action, size);
    else if (key.type === "paste") this.#input.paste(key.text);
    else if (key.type === "text" && !isAnswer) this.#input.type(key.text);
    if (key.type !== "key") this.#armed = null;
    void this.#lookUpOffers();
    this.#changed();
  }

  async #lookUpOffers(): Promise<void> {
    if (!(await this.#offers.lookUp(this.#input.text, () => this.#target()))) return;
    this.#input.offer();
    this.#changed();
  }

  async #begin(): Promise<void> {
    this.#options.notices?.((text) => this.#notice(text));
    void this.#attempt(() => this.#input.load());
    await this.#attempt(() => this.#exchange.begin());
    if (this.#options.question !== undefined) this.#exchange.send(this.#options.question);
  }

  #search(key: Key, action: Action | undefined): void {
    if (this.#input.pressInSearch(key, action)) this.#command("/reset");
  }

  #perform(action: Action, size: Size): void {
    const armed = this.#armed;
    this.#armed = null;
    switch (action) {
      case "send":
        return this.#send(armed === "shell");
      case "completeOrQueue":
        return this.#completeOrQueue();
      case "completeBackward":
        return void this.#input.complete(-1);
      case "closeOrStop":
        return this.#closeOrStop(() => (armed === "tree" ? this.#command("/tree") : void (this.#armed = "tree")));
      case "closeOrStopOrQuit":
        return this.#closeOrStop(() => this.#quit());
      case "interrupt":
        return this.#interrupt(armed === "quit", size);
      case "quit":
        return this.#quit();
      case "deleteForwardOrQuit":
        return this.#input.text === "" ? this.#quit() : void this.#input.perform(action, size);
      case "newThread":
      case "newThreadWhenEmpty":
        return action === "newThread" || this.#input.text === "" ? this.#command("/new") : undefined;
      case "reset":
      case "transcript":
        return this.#command(`/${action}`);
      case "toolDetails":
        this.#scrollback.isUnfolded = !this.#scrollback.isUnfolded;
        return this.#reprint(size);
      case "reprint":
        return this.#reprint(size);
      case "suspend":
        return this.#options.port.stop();
      case "editElsewhere":
        return void this.#attempt(() => this.#input.editElsewhere(this.#options));
      case "up":
        return this.#up(size);
      default:
        return void this.#input.perform(action, size);
    }
  }

  /** @param isSecond whether nothing was pressed since the Enter that asks whether a command runs */
  #send(isSecond: boolean): void {
    if (this.#approvalKeys.complete(() => this.#input.take())) return;
    const text = this.#input.take();
    if (text === "") return;
    void this.#attempt(() => this.#input.remember(text));
    const command = commandIn(text);
    if (command !== null) this.#command(command);
    else if (this.#shell !== null && isShellLine(text)) this.#enterShell(this.#shell, text, isSecond);
    else if (this.#edited === null) this.#exchange.send(text);
    else void this.#askAnew(text, this.#edited.parent);
  }

  #enterShell(shell: ShellLines, text: string, isSecond: boolean): void {
    if (isSecond) return void this.#attempt(() => shell.run(text), text);
    this.#input.replace(text);
    this.#armed = "shell";
    shell.ask(text);
  }

  async #askAnew(text: string, parent: number): Promise<void> {
    try {
      await this.#exchange.during(() => this.#exchange.thread.branch(parent));
      this.#edited = null;
      this.#exchange.send(text);
    } catch (thrown) {
      this.#input.giveBack(text);
      this.#notice(`error: ${failureText(thrown)}`, "error");
    }
  }

  #completeOrQueue(): void {
    if (this.#input.complete(1) || !this.#exchange.isAnswering) return;
    const text = this.#input.take();
    if (text === "") return;
    void this.#attempt(() => this.#input.remember(text));
    this.#exchange.enqueue(text);
  }

  #closeOrStop(otherwise: () => void): void {
    if (this.#approvalKeys.begun !== null) this.#approvalKeys.leave();
    else if (this.#edited !== null) this.#edited = null;
    else if (this.#exchange.isAnswering) this.#exchange.stop();
    else otherwise();
  }

  #interrupt(isSecond: boolean, size: Size): void {
    if (this.#shell?.isRunning === true) this.#shell.stop();
    else if (this.#exchange.isAnswering) this.#exchange.stop();
    else if (this.#input.text !== "") this.#input.perform("clearInput", size);
    else if (isSecond) this.#quit();
    else this.#armed = "quit";
  }

  #up(size: Size): void {
    const taken = this.#input.text === "" ? this.#exchange.takeBack() : null;
    if (taken === null) this.#input.perform("up", size);
    else this.#input.giveBack(taken);
  }

  /** Performs a command. If it fails, shows the problem and puts the line back. */
  #command(line: string): void {
    this.#notice(line);
    void this.#attempt(() => this.#exchange.during(() => performCommand(this.#target(), line)), line);
  }

  async #attempt(step: () => Promise<void>, line = ""): Promise<void> {
    if (line !== "") this.#performed = line;
    try {
      await step();
    } catch (thrown) {
      this.#notice(`error: ${failureText(thrown)}`, "error");
      if (line !== "" && this.#input.text === "") this.#input.replace((this.#refused = line));
    }
    if (line !== "") this.#performed = "";
    await this.#refresh();
  }

  #target(): CommandTarget {
    return screenTarget(this.#options, this.#exchange, this.#keymap, {
      say: (text) => this.#notice(text),
      open: (view) => {
        this.#view = view;
        this.#changed();
      },
      propose: (text) => this.#input.giveBack(text),
      end: () => this.#quit(),
    });
  }

  #pressInView(view: View, key: Key, size: Size, action: Action | undefined): void {
    if (action === "interrupt") this.#view = null;
    else void this.#follow(view.press(key, size));
  }

  /** Shows the steps of a view. A later step is ignored if another view is shown by then. */
  async #follow({ view, later, action }: ViewStep): Promise<void> {
    if (view !== undefined) this.#view = view;
    if (action !== undefined) this.#performInView(action);
    const shown = this.#view;
    const step = await later;
    if (step === undefined || this.#view !== shown) return;
    void this.#follow(step);
    this.#changed();
  }

  #performInView(action: ViewAction): void {
    const edit = async (number: number): Promise<void> => {
      const { turn, question } = await questionOf(this.#exchange.thread, number);
      this.#edited = turn;
      this.#input.giveBack(question);
    };
    void this.#attempt(() => this.#exchange.during(() => performViewAction(action, () => this.#target(), edit)));
  }

  #reprint(size: Size): void {
    this.#options.port.reprint(this.#scrollback.linesOf(this.#exchange.last, size, true));
  }

  #status(width: number): string {
    const typed = { begun: this.#approvalKeys.begun, edited: this.#edited?.number ?? null, armed: this.#armed };
    const thread = {
      keymap: this.#keymap,
      isLabelled: this.#options.agentLabel !== undefined,
      figures: this.#figures,
      performed: this.#performed,
    };
    return statusText({ ...typed, ...thread }, this.#exchange, width);
  }

  #show(block: Block): void {
    this.#scrollback.add(block);
    this.#changed();
  }

  #notice(text: string, level: "dim" | "warning" | "error" = "dim"): void {
    this.#show({ type: "notice", text, level });
  }

  #done(isBehindAnswer: boolean): void {
    if (isBehindAnswer && this.#options.bell === true) this.#options.port.bell();
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    // If the thread cannot be read, its earlier figures stay.
    const { host, agentLabel = null } = this.#options;
    this.#figures = await threadStatus(host.machine, this.#exchange.thread, agentLabel).catch(() => this.#figures);
    this.#changed();
  }

  /** Quits. Shows the texts that were not asked; the input history of the next time contains them. */
  #quit(): void {
    this.#shell?.stop();
    for (const text of this.#exchange.end()) this.#show({ type: "question", text, fate: "dropped" });
    this.#view = null;
    this.#ending.resolve();
  }

  #changed(): void {
    this.#running.follow(this.#exchange.open);
    for (const listener of this.#listeners) listener();
  }
}

const prompts = { question: "> ", reason: "why not? ", always: "always? " } as const;

/** The possible arguments of commands that were looked up so far. */
class ArgumentOffers {
  readonly known: Map<string, readonly string[]> = new Map();

  /**
   * Looks up the possible arguments of the typed command, once for each time it is typed. Returns true if there are new
   * ones. Never rejects.
   */
  async lookUp(typed: string, target: () => CommandTarget): Promise<boolean> {
    const [, name] = /^(\/\S+) /.exec(typed) ?? [];
    if (name === undefined) this.known.clear();
    if (name === undefined || this.known.has(name)) return false;
    this.known.set(name, []);
    const command = slashCommands.find((each) => each.name === name);
    // The command can be typed without offers.
    this.known.set(name, (await command?.complete?.(target()).catch(() => [])) ?? []);
    return true;
  }
}

/** The finished lines: written once, with the folding of that moment. */
class Scrollback {
  readonly finished: FinishedLines[] = [];
  /** Whether thinking and the details of tools are shown whole from now on. */
  isUnfolded: boolean;

  constructor(isUnfolded: boolean) {
    this.isUnfolded = isUnfolded;
  }

  add(block: Block): void {
    const unfolded = this.isUnfolded;
    this.finished.push({
      id: this.finished.length,
      lines: (columns, rows) => blockLines(block, { columns, rows, unfolded, finished: true }),
    });
  }

  /** Lays blocks out as lines, with the present folding. */
  linesOf(blocks: readonly Block[], size: Size, finished: boolean): readonly Line[] {
    const look = { ...size, unfolded: this.isUnfolded, finished };
    return blocks.flatMap((block) => blockLines(block, look));
  }
}
