import { type AskInput, ThreadUnknownError, type AskHandle, type AskPart, OutputError } from "@colloquy/host";
import type { Event } from "@colloquy/machine";
import { type How, inWords, isEnd, isPassing, type Question, simulatedOutput } from "../script/question.ts";
import { threadId } from "../checks/watched-journal.ts";
import type { SimulatedProcess, Processes } from "../world/process.ts";
import type { Action, AskAction } from "../script/script.ts";
import type { World } from "../world/world.ts";

/** The user of a simulation, whose conversation is one thread. */
export class User {
  readonly questions: Question[] = [];
  readonly #world: World;
  readonly #processes: Processes;
  /** Asks by the process that answers them. They are repeated when it dies. */
  readonly #asked: Map<SimulatedProcess, Set<Question>> = new Map();
  #settled: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(world: World, processes: Processes) {
    this.#world = world;
    this.#processes = processes;
  }

  async play(actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      if (action.afterMs !== undefined && action.afterMs > 0) await this.#world.sleep(action.afterMs);
      this.#processes.disturb();
      await this.#do(action);
    }
  }

  /** Waits until each question has its answer, for `withinMs` at most. Returns true if all have. */
  async settles(withinMs: number): Promise<boolean> {
    const until = this.#world.clock.now() + withinMs;
    while (!this.#isSettled && this.#world.clock.now() < until) {
      await Promise.race([this.#settled.promise, this.#world.sleep(until - this.#world.clock.now())]);
    }
    return this.#isSettled;
  }

  ask(input: AskInput, { askId, ...how }: How & { readonly askId?: string | undefined } = {}): Question {
    const id = askId ?? `ask-${this.questions.length + 1}`;
    const question: Question = { askId: id, input, ...how, handle: null, end: null, tries: 0, mayBeInboxItem: false };
    this.questions.push(question);
    this.#try(question);
    return question;
  }

  /** Sends the machine an event, once. It may not arrive. */
  send(event: Event): void {
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`gets ${event.type}`);
    const own = this.#world.scribbling.handsIn(event);
    const sending = process.expects(process.host.thread(threadId).send(own));
    this.#world.scribbling.given(own);
    sending.then(
      (receipt) => this.#world.scribbling.given(receipt),
      (error: unknown) => {
        if (process.alive && !isPassing(error) && !(error instanceof ThreadUnknownError))
          this.#breaks(`sending it ${event.type} was rejected with`, error);
      },
    );
  }

  lost(process: SimulatedProcess): void {
    const questions = this.#asked.get(process);
    if (questions === undefined) return;
    for (const question of questions) this.#tryLater(question);
    this.#asked.delete(process);
  }

  async #do(action: Action): Promise<void> {
    switch (action.type) {
      case "ask":
        return void this.ask(action.input, { ...howOf(action), ...outputOf(action), askId: this.#idOf(action) });
      case "steer":
        return void this.ask(action.input, { steers: true });
      case "errand":
        return this.#runErrand();
      case "redact":
        return this.#redact(action.turn);
      case "abort":
        return this.questions[action.ask]?.handle?.abort("the user left");
      case "cancel":
        return this.send({ type: "cancel.requested", at: this.#world.clock.now(), reason: "the user pressed stop" });
      case "send":
        return this.send({ ...action.event, at: this.#world.clock.now() });
      case "settle":
        return void (await this.settles(action.withinMs ?? patienceMs));
      case "crash":
        return this.#processes.crash();
      case "pause":
        return this.#processes.pause(action.forMs);
    }
  }

  /** Asks on another thread. The outcome is irrelevant; the errand only competes for the host's slots. */
  #runErrand(): void {
    const process = this.#processes.reachable();
    void process?.expects(process.host.ask("On another thread.", { threadId: "errand" }));
  }

  /** Asks for a redaction, which may be refused, or find no process. */
  #redact(turn: number): void {
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`is asked to redact turn ${turn}`);
    void process.expects(process.host.thread(threadId).redact({ turn }));
  }

  #idOf({ again }: AskAction): string | undefined {
    const asks = this.questions.filter(({ steers }) => steers !== true);
    return again === undefined ? undefined : asks[again]?.askId;
  }

  #try(question: Question): void {
    const process = this.#processes.reachable();
    question.tries++;
    if (question.tries > triesMax)
      return this.#world.breaks("settles", `${question.askId} was asked ${triesMax} times, and never answered`);
    if (process === null) return this.#tryLater(question);
    process.note(`is asked ${question.askId}`);
    const { askId, steers } = question;
    const input = this.#world.scribbling.handsIn(question.input);
    // The process may die during the call.
    this.#at(process).add(question);
    question.mayBeInboxItem ||= process.opening?.over !== false || process.opening.superseded;
    const options = { askId, ...this.#world.scribbling.handsIn(howOf(question)) };
    // A schema is code, which the scribbling faults leave unchanged.
    const output = question.output === undefined ? {} : { output: simulatedOutput(question.output.repairs) };
    const handle =
      steers === true
        ? process.host.thread(threadId).steer(input, { askId })
        : process.host.ask(input, { ...options, ...output, threadId });
    this.#world.scribbling.given(input, options);
    question.handle = handle;
    process.expects(handle);
    checkParts(this.#world, process, handle);
    const over = (end: unknown): void => {
      if (process.alive) this.#ended(process, question, end);
    };
    handle.then(over, over);
  }

  #ended(process: SimulatedProcess, question: Question, end: unknown): void {
    this.#at(process).delete(question);
    question.handle = null;
    process.note(`answers ${question.askId}: ${inWords(end)}`);
    this.#world.scribbling.given(end);
    if (isPassing(end)) return this.#tryLater(question);
    if (!isEnd(end)) return this.#breaks(`${question.askId} was rejected with`, end);
    question.end = end;
    if (!this.#isSettled) return;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }

  #tryLater(question: Question): void {
    question.handle = null;
    void this.#world.sleep(this.#world.random.whole(1, 150)).then(() => this.#try(question));
  }

  #at(process: SimulatedProcess): Set<Question> {
    const questions = this.#asked.get(process) ?? new Set();
    this.#asked.set(process, questions);
    return questions;
  }

  get #isSettled(): boolean {
    return this.questions.every(({ end }) => end !== null);
  }

  #breaks(what: string, error: unknown): void {
    this.#world.breaks("settles", `${what} what is no error of the host's: ${inWords(error)}`);
  }
}

/** How long the user waits for an answer before continuing. */
const patienceMs = 400;

const triesMax = 200;

const outputOf = ({ output }: How): Pick<How, "output"> => (output === undefined ? {} : { output });

const howOf = ({ limits, overlap, from, tools }: How): Omit<How, "steers" | "output"> => ({
  ...(tools === undefined ? {} : { tools }),
  ...(from === undefined ? {} : { from }),
  ...(limits === undefined ? {} : { limits }),
  ...(overlap === undefined ? {} : { overlap }),
});

/**
 * Reads the parts of an ask, and checks them. If it has a turn, they end with the end of that turn, each text belongs
 * to the step that was started last, and the answer contains the text of the last attempt. The parts of a repeated ask
 * may start in mid-turn.
 */
const checkParts = (world: World, process: SimulatedProcess, handle: AskHandle): void => {
  const breaks = (what: string): void => {
    if (process.alive) world.breaks("settles", `the parts of ${handle.askId} ${what}`);
  };
  const read = async (): Promise<void> => {
    let last: AskPart | null = null;
    let text = "";
    let started: number | null = null;
    let attempt = 1;
    try {
      for await (const part of handle) {
        last = part;
        world.scribbling.given(part);
        if (part.type === "step.started" || (part.type === "signal" && part.signal.type === "retry.scheduled"))
          text = "";
        if (part.type === "thread.lost") text = "";
        if (part.type === "step.started") started = part.step;
        if (part.type !== "text.delta") continue;
        if (part.attempt !== attempt) text = "";
        attempt = part.attempt;
        text += part.text;
        if (started !== null && part.step !== started)
          breaks(`have a text of step ${part.step}, and last started step ${started}`);
      }
    } catch {
      // The handle rejects with the same error, which is checked.
      return;
    }
    if (last?.type !== "turn.ended") return breaks(`end with ${last?.type ?? "nothing"}`);
    if (last.status !== "completed") return;
    const result = await handle.catch(withoutOutput);
    if (result === null) return;
    // Parts of hosts that took the thread meanwhile are not shown.
    if (process.opening?.superseded === true) return;
    if (!result.text.includes(text))
      breaks(`say ${JSON.stringify(text)}, and its result ${JSON.stringify(result.text)}`);
  };
  void read().catch((error: unknown) => breaks(`can't be read: ${String(error)}`));
};

/** Returns null for an invalid output: a repeated ask may have a stricter schema than the complete turn. */
const withoutOutput = (error: unknown): null => {
  if (error instanceof OutputError) return null;
  throw error;
};
