import { isAside } from "../blocks/block-lines.ts";
import { type AskPart, type HostedThread, TurnCancelledError } from "@colloquy/host";
import { type Content, type Json, turnNumbered } from "@colloquy/machine";
import { failureText } from "../text/failure-text.ts";
import { agentFigures, counted, figuresOf, tokensOf } from "../text/figures.ts";
import { named, oneLine } from "../text/printable.ts";
import { withQuestion, withRead } from "./answer-blocks.ts";
import { Answering, type AnswerEnd, type TerminalAsk } from "./answering.ts";
import type { ApprovalBlock, Block } from "../blocks/block.ts";
import { openingOf } from "./opening.ts";
import { Approvals } from "./approvals.ts";
import { Steering } from "./steering.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** The questions and answers on one thread at a time: the running answer, texts sent into it, and queued questions. */
export class Exchange {
  #thread: HostedThread;
  readonly #setting: ExchangeSetting;
  #answering: Answering | null = null;
  #unasked = "";
  /** Opening threads, and showing the ends of answers. Questions that are sent meanwhile wait. */
  readonly #steps = new InOrder((isBehindAnswer) => {
    if (!this.isAnswering) this.#next(isBehindAnswer);
  });
  /** The answer is being stopped: nothing more is asked in it. */
  #isStopped = false;
  /** The number of the answer's blocks that were shown as finished. */
  #taken = 0;
  #queue: readonly Waiting[] = [];
  readonly #steering: Steering;
  readonly approvals: Approvals;
  #last: readonly Block[] = [];

  constructor(threadId: string, setting: ExchangeSetting) {
    this.#thread = setting.host.thread(threadId);
    this.#setting = { ...setting, show: (block) => this.#visible([block]).forEach(setting.show) };
    this.approvals = new Approvals({
      nested: setting.nested,
      giveBack: setting.giveBack,
      thread: () => this.#thread,
      isStopped: () => this.#isStopped,
      notice: (text, level) => this.#notice(text, level),
      change: (changed) => {
        if (this.#answering !== null) this.#answering.blocks = changed(this.#answering.blocks);
        this.#take();
      },
    });
    this.#steering = new Steering({
      changed: setting.changed,
      read: (question, into) => {
        if (this.#answering === null) return setting.show(question);
        this.#answering.blocks = into(this.#answering.blocks, question);
        this.#take();
      },
      refused: (text, why) => {
        setting.notAsked(text);
        this.#notice(`${why}: it is asked next`);
        this.enqueue(text);
      },
      giveBack: (text, why) => {
        setting.show(
          why === null
            ? { type: "question", text, fate: "returned" }
            : { type: "notice", text: `not sent: ${why}`, level: "warning" },
        );
        setting.notAsked(text);
        setting.giveBack(text);
      },
    });
  }

  get thread(): HostedThread {
    return this.#thread;
  }

  get isAnswering(): boolean {
    return this.#answering !== null;
  }

  /** The resource that an answer waits for before anything can arrive. */
  get waits(): "lease" | "model" | null {
    return this.#answering?.blocks.waits ?? null;
  }

  get queue(): readonly string[] {
    return this.#queue.map(({ text }) => text);
  }

  get steered(): readonly string[] {
    return this.#steering.texts;
  }

  get open(): readonly Block[] {
    return this.#visible(this.#answering?.open ?? []);
  }

  /** The finished blocks of the present answer, or of the last one. */
  get last(): readonly Block[] {
    return this.#visible(this.#answering?.blocks.finished ?? this.#last);
  }

  /** The approval that is asked for; the first if there are several. */
  get approval(): ApprovalBlock | null {
    if (this.#isStopped) return null;
    return this.open.find((block) => block.type === "approval") ?? null;
  }

  /** Describes the thread, and continues its open turn. */
  begin(): Promise<void> {
    return this.#steps.run(() => this.#takeUp(), false);
  }

  async #takeUp(): Promise<void> {
    this.#setting.turnedTo?.(this.#thread.id);
    const thread = this.#thread;
    const found = await thread.look(openingOf);
    if (found === null) return this.#notice(`new thread ${named(thread.id)}`);
    this.#notice(`continuing thread ${named(thread.id)}: ${counted(found.turns, "turn")}, ${tokensOf(found.usage)}`);
    this.#last = found.last;
    for (const block of found.last) this.#setting.show(block);
    const waiting = found.queue.map(({ askId, text }) => ({ text, asked: thread.rejoin(askId) }));
    this.#queue = [...waiting, ...this.#queue];
    if (found.open === null) return;
    this.#notice("its last turn is open: what there is of it is shown, and it goes on");
    for (const text of found.open.questions) this.#setting.show({ type: "question", text, fate: "asked" });
    void this.#follow({ text: "", asked: null }, thread.rejoin(found.open.askId));
  }

  /** Switches to another thread, and releases the one before. @throws Error while an answer is running */
  turnTo(threadId: string): Promise<void> {
    return this.#steps.run(async () => {
      if (this.isAnswering) throw new Error("an answer is under way: stop it first, or wait for it");
      const next = this.#setting.host.thread(threadId);
      if (next.id !== this.#thread.id) await this.#thread.close();
      this.#thread = next;
      this.#last = [];
      await this.#takeUp();
    }, false);
  }

  /** Does work that may switch to another thread; questions that are sent meanwhile wait for its end. */
  during(work: () => Promise<void>): Promise<void> {
    return this.#steps.during(work);
  }

  /** Asks. While an answer is running, sends the text into it, or queues the text if that is not possible. */
  send(text: string): void {
    if (!this.isAnswering || this.#setting.steers === false) return this.enqueue(text);
    const content = this.#contentOf(text);
    if (content === null) return;
    void this.#steering.send(text, content, this.#thread, this.#answering?.asked.askId ?? "");
  }

  /** Asks after the running answer has ended. */
  enqueue(text: string): void {
    if (!this.isAnswering && !this.#steps.isBusy) return this.#ask({ text, asked: null });
    this.#queue = [...this.#queue, { text, asked: null }];
    this.#setting.changed();
  }

  /** Removes the last queued text and returns it; null if there is none. */
  takeBack(): string | null {
    const last = this.#queue.at(-1);
    if (last === undefined) return null;
    this.#queue = this.#queue.slice(0, -1);
    last.asked?.abort();
    this.#setting.changed();
    return last.text;
  }

  /** Stops the answer. Its shown part is kept. */
  stop(): void {
    this.#isStopped = this.isAnswering;
    this.#answering?.asked.abort();
  }

  /** Stops for good. Returns the texts that will not be asked. */
  end(): readonly string[] {
    const own = this.#queue.filter(({ asked }) => asked === null);
    const texts = [this.#unasked, ...this.#steering.end(), ...own.map(({ text }) => text)].filter(
      (text) => text !== "",
    );
    this.#queue = [];
    this.#unasked = "";
    this.stop();
    return texts;
  }

  #ask(what: Waiting): void {
    const content = what.asked === null ? this.#contentOf(what.text) : what.text;
    if (content === null) return this.#next(false);
    this.#setting.show({ type: "question", text: what.text, fate: "asked" });
    void this.#follow(what, what.asked ?? this.#setting.ask?.(content, this.#thread.id) ?? this.#thread.ask(content));
  }

  /** Returns a text with its attachments. If one cannot be read, gives the text back and returns null. */
  #contentOf(text: string): Content | null {
    try {
      return this.#setting.contentOf(text);
    } catch (thrown) {
      this.#notice(`error: ${failureText(thrown)}`, "error");
      this.#setting.giveBack(text);
      return null;
    }
  }

  async #follow({ text }: Waiting, asked: TerminalAsk): Promise<void> {
    const answering = new Answering(asked, this.#setting.streams ?? true, (part) => this.#onPart(part));
    this.#answering = answering;
    this.#isStopped = false;
    this.#unasked = text;
    this.#taken = 0;
    this.#setting.changed();
    const forget = this.approvals.follow();
    const end = await answering.run();
    forget();
    this.#take();
    this.#last = answering.blocks.finished;
    this.#answering = null;
    this.#unasked = "";
    const thread = this.#thread;
    const onError = (thrown: unknown): void => this.#notice(`error: ${failureText(thrown)}`, "error");
    await this.#steps.run(() => this.#showEnd(end, text, thread).catch(onError), true);
  }

  #next(isBehindAnswer: boolean): void {
    const [next, ...others] = this.#queue;
    this.#queue = others;
    if (next === undefined) this.#setting.done(isBehindAnswer);
    else this.#ask(next);
    this.#setting.changed();
  }

  async #showEnd({ turn: number, thrown }: AnswerEnd, text: string, thread: HostedThread): Promise<void> {
    const isStopped = thrown instanceof TurnCancelledError;
    if (thrown !== null)
      this.#notice(isStopped ? "stopped" : `error: ${failureText(thrown)}`, isStopped ? "dim" : "error");
    if (number === null && text !== "") {
      this.#setting.notAsked(text);
      this.#setting.giveBack(text);
    }
    if (thrown !== null && !isStopped) {
      const texts = this.#queue.filter(({ asked }) => asked === null).map((waiting) => waiting.text);
      if (texts.length > 0) this.#setting.giveBack(texts.join("\n"));
      this.#queue = this.#queue.filter(({ asked }) => asked !== null);
    }
    const figures = number === null ? null : await figuresBehind(thread, number, this.#setting);
    if (figures !== null) this.#setting.show(figures);
  }

  #onPart(part: AskPart<Json | undefined>): void {
    if (part.type === "turn.started") this.#unasked = "";
    if (part.type === "signal" && part.signal.type === "ask.delivered")
      this.#steering.read(part.signal.askId, withRead);
    if (part.type === "thread.forked") this.#thread = this.#setting.host.thread(part.threadId);
    this.#take();
  }

  #visible(blocks: readonly Block[]): readonly Block[] {
    return this.#setting.detail === "none" ? blocks.filter((block) => !isAside(block)) : blocks;
  }

  #notice(text: string, level: "dim" | "warning" | "error" = "dim"): void {
    this.#setting.show({ type: "notice", text, level });
  }

  /** Shows the newly finished blocks of the answer. */
  #take(): void {
    const { approval } = this;
    if (approval !== null && this.approvals.isTrusted(approval)) return void this.approvals.answer(approval, true);
    if (this.#answering !== null) this.#answering.blocks = withQuestion(this.#answering.blocks, this.#setting.changeOf);
    const finished = this.#answering?.blocks.finished ?? [];
    for (const block of finished.slice(this.#taken)) this.#setting.show(block);
    this.#taken = finished.length;
    this.#setting.changed();
  }
}

interface Waiting {
  readonly text: string;
  readonly asked: TerminalAsk | null;
}

/** Returns the figures of a turn and its notes; null if the turn does not exist. */
const figuresBehind = async (
  thread: HostedThread,
  number: number,
  { name = "Agent", agentLabel, notes }: Pick<ExchangeSetting, "name" | "agentLabel" | "notes">,
): Promise<Block | null> => {
  const figures = await thread.look((state) => {
    const turn = turnNumbered(state, number);
    if (turn === undefined) return null;
    return agentLabel === undefined ? `${oneLine(name)} ${figuresOf(turn)}` : agentFigures(name, turn);
  });
  if (figures === null) return null;
  const others = (await notes?.(thread.id, number)) ?? [];
  return { type: "figures", text: [figures, ...others].join("\n") };
};

interface ExchangeSetting extends Pick<
  TerminalConversationOptions,
  | "host"
  | "ask"
  | "steers"
  | "turnedTo"
  | "notes"
  | "name"
  | "agentLabel"
  | "detail"
  | "streams"
  | "changeOf"
  | "nested"
> {
  /** Returns a typed text with its attachments. @throws Error for one that cannot be read */
  readonly contentOf: (text: string) => Content;
  /** Takes back what a text has taken along: no turn and no model has it. */
  readonly notAsked: (text: string) => void;
  /** Shows a block after the finished ones. */
  readonly show: (block: Block) => void;
  /** Returns a text without effect to the person who typed it. */
  readonly giveBack: (text: string) => void;
  readonly changed: () => void;
  readonly done: (isBehindAnswer: boolean) => void;
}

class InOrder {
  #count = 0;
  #isBehindAnswer = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onIdle: (isBehindAnswer: boolean) => void;

  /** @param onIdle called after the last step, with whether one of them followed an answer */
  constructor(onIdle: (isBehindAnswer: boolean) => void) {
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Runs a step after those before it, whether they failed or not. */
  run(step: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    return this.#counted(() => {
      const done = this.#last.then(step);
      this.#last = done.catch(() => {});
      return done;
    }, isBehindAnswer);
  }

  /** Does work at once, which may run steps; counts as busy until its end. */
  during(work: () => Promise<void>): Promise<void> {
    return this.#counted(work, false);
  }

  async #counted(work: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    this.#count++;
    this.#isBehindAnswer ||= isBehindAnswer;
    try {
      await work();
    } finally {
      this.#count--;
      if (!this.isBusy) this.#idle();
    }
  }

  #idle(): void {
    const isBehindAnswer = this.#isBehindAnswer;
    this.#isBehindAnswer = false;
    this.#onIdle(isBehindAnswer);
  }
}
