import {
  AskRefusedError,
  type AskHandle,
  type AskInput,
  type AskResult,
  ContextUnfitError,
  LeaseLostError,
  LimitReachedError,
  SequenceConflictError,
  StoreError,
  ThreadClosedError,
  ThreadHeldError,
  ThreadUnknownError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import type { Event, Limits } from "@colloquy/machine";
import { checkParts } from "./checks/parts.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Processes } from "./processes.ts";
import type { Action, AskAction } from "./script.ts";
import type { World } from "./world.ts";

/** What an ask came to, in the end. */
export type AskEnd =
  | AskResult
  | TurnFailedError
  | LimitReachedError
  | ContextUnfitError
  | TurnCancelledError
  | AskRefusedError;

/** Something that a user wants to know, and asks again as long as nobody answers. */
export interface Question {
  readonly askId: string;
  readonly input: AskInput;
  readonly limits: Limits | undefined;
  /** The handle to it, while somebody is at it. */
  handle: AskHandle | null;
  end: AskEnd | null;
  tries: number;
}

/** The user of a simulation, whose conversation is one thread. */
export class User {
  readonly questions: Question[] = [];
  readonly #world: World;
  readonly #processes: Processes;
  readonly #threadId: string;
  /** Asks by whoever answers them; to be asked again when it dies. */
  readonly #asked: Map<SimulatedProcess, Set<Question>> = new Map();
  #settled: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(world: World, processes: Processes, threadId: string) {
    this.#world = world;
    this.#processes = processes;
    this.#threadId = threadId;
  }

  async play(actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      if (action.afterMs !== undefined && action.afterMs > 0) await this.#world.sleep(action.afterMs);
      this.#processes.disturb();
      await this.#do(action);
    }
  }

  /** Waits until each question has its answer, at most so long. True when they have. */
  async settles(withinMs: number): Promise<boolean> {
    const until = this.#world.clock.now() + withinMs;
    while (!this.#isSettled && this.#world.clock.now() < until) {
      await Promise.race([this.#settled.promise, this.#world.sleep(until - this.#world.clock.now())]);
    }
    return this.#isSettled;
  }

  /** Asks, and asks again. */
  ask(input: AskInput, askId: string = `ask-${this.questions.length + 1}`, limits?: Limits): Question {
    const question: Question = { askId, input, limits, handle: null, end: null, tries: 0 };
    this.questions.push(question);
    this.#try(question);
    return question;
  }

  /** Tells the machine something, once; whether it arrives is not certain. */
  send(event: Event): void {
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`is told ${event.type}`);
    const sending = process.host.thread(this.#threadId).send(event);
    process.unsettled.add(sending);
    sending.then(
      () => process.unsettled.delete(sending),
      (error: unknown) => {
        process.unsettled.delete(sending);
        if (process.alive && !isPassing(error) && !(error instanceof ThreadUnknownError))
          this.#breaks(`telling it ${event.type} was rejected with`, error);
      },
    );
  }

  /** A process is gone, and took with it what it was asked. */
  lost(process: SimulatedProcess): void {
    const questions = this.#asked.get(process);
    if (questions === undefined) return;
    for (const question of questions) this.#tryLater(question);
    this.#asked.delete(process);
  }

  async #do(action: Action): Promise<void> {
    switch (action.type) {
      case "ask":
        this.ask(action.input, this.#idOf(action), action.limits);
        return;
      case "abort":
        this.questions[action.ask]?.handle?.abort("the user left");
        return;
      case "cancel":
        this.send({ type: "cancel.requested", at: this.#world.clock.now(), reason: "the user pressed stop" });
        return;
      case "send":
        this.send({ ...action.event, at: this.#world.clock.now() });
        return;
      case "settle":
        await this.settles(action.withinMs ?? patienceMs);
        return;
      case "crash":
        this.#processes.crash();
        return;
      case "pause":
        this.#processes.pause(action.forMs);
    }
  }

  #idOf({ again }: AskAction): string | undefined {
    return again === undefined ? undefined : this.questions[again]?.askId;
  }

  #try(question: Question): void {
    const process = this.#processes.reachable();
    question.tries++;
    if (question.tries > triesMax) {
      this.#world.breaks("settles", `${question.askId} was asked ${triesMax} times, and never answered`);
      return;
    }
    if (process === null) {
      this.#tryLater(question);
      return;
    }
    process.note(`is asked ${question.askId}`);
    const { askId, input, limits } = question;
    // The process may die in the very call.
    this.#at(process).add(question);
    const handle = process.host.ask(input, {
      threadId: this.#threadId,
      askId,
      ...(limits === undefined ? {} : { limits }),
    });
    question.handle = handle;
    process.unsettled.add(handle);
    checkParts(this.#world, process, handle);
    const over = (end: unknown): void => {
      process.unsettled.delete(handle);
      if (process.alive) this.#ended(process, question, end);
    };
    handle.then(over, over);
  }

  #ended(process: SimulatedProcess, question: Question, end: unknown): void {
    this.#at(process).delete(question);
    question.handle = null;
    process.note(`answers ${question.askId}: ${inWords(end)}`);
    if (isPassing(end)) {
      this.#tryLater(question);
      return;
    }
    if (!isEnd(end)) {
      this.#breaks(`${question.askId} was rejected with`, end);
      return;
    }
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

/** How long the user waits for an answer before going on. */
const patienceMs = 400;

const triesMax = 200;

/** The host could not say; asking again may help. */
const isPassing = (error: unknown): boolean =>
  error instanceof ThreadHeldError ||
  error instanceof ThreadClosedError ||
  error instanceof LeaseLostError ||
  error instanceof SequenceConflictError ||
  error instanceof StoreError;

const isEnd = (end: unknown): end is AskEnd =>
  end instanceof TurnFailedError ||
  end instanceof LimitReachedError ||
  end instanceof ContextUnfitError ||
  end instanceof TurnCancelledError ||
  end instanceof AskRefusedError ||
  (typeof end === "object" && end !== null && "status" in end && end.status === "completed");

const inWords = (end: unknown): string => {
  if (end instanceof Error) return `${end.name}: ${end.message}`;
  return typeof end === "object" && end !== null && "text" in end ? JSON.stringify(end.text) : String(end);
};
