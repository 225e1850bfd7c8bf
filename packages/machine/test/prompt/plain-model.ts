import { asItStands, type PlainCall, type PlainOpen, resultOf } from "./plain-open-turn.ts";
import type { Config, PlainThread, PlainTurn, PlainUnfit, Said } from "./plain-prompt.ts";
import {
  availableIn,
  fitsInto,
  isReadable,
  isTriedInVain,
  leadsThrough,
  numbersOf,
  pathOf,
  perMessage,
  plainPrompt,
  said,
  tokensOf,
  wantedIn,
} from "./plain-prompt.ts";

export const mostSummaryTokens = 60;
const attempts = 3;

/**
 * A plain model of a conversation, written as simply as its prompts. `model-based.test.ts` compares the machine with
 * it.
 */
export class PlainConversation implements PlainThread {
  config: Config;
  system: Said | null = null;
  seed: readonly Said[];
  turns: PlainTurn[] = [];
  head = 0;
  pins: readonly string[] = [];
  calibration = 1;
  appended: Said[] = [];
  open: PlainOpen | null = null;
  leaf = "idle";
  summarising: { readonly number: number; readonly from: number; readonly to: number } | null = null;
  /** Of the newest turn that ended, why it could not be fitted. */
  unfit: PlainUnfit | null = null;
  /** Asked for, or refused because it would read too much. */
  summaries = 0;
  #systems = 0;

  constructor(config: Config, seed: readonly string[]) {
    this.config = config;
    this.seed = seed.map((text, index) => said(`0.${index}`, "user", text));
  }

  // The events of a conversation. A method returns false if the event is refused.

  ask(text: string): boolean {
    if (this.open !== null) return false;
    const number = this.turns.length + 1;
    const asked = [...this.appended, said(`${number}.${this.appended.length}`, "user", text)];
    const stage = { type: "compacting", attempt: 1 } as const;
    this.open = { number, parent: this.head, said: asked, waiting: [], made: asked.length, step: 0, stage };
    this.appended = [];
    this.#step(1, false);
    return true;
  }

  reply(text: string, reported: number | null): void {
    const open = this.#calling();
    this.#measure(reported);
    const answer = said(`${open.number}.${open.made}`, "assistant", text);
    open.said.push(answer);
    this.#close(true, answer.id);
    this.#askSummary([]);
  }

  callTools(names: readonly string[], reported: number | null): void {
    const open = this.#calling();
    this.#measure(reported);
    const id = `${open.number}.${open.made++}`;
    const tokens = perMessage + names.reduce((sum, name) => sum + name.length + "{}".length, 0);
    open.said.push({ id, role: "assistant", text: names.join(" "), unit: id, tokens });
    const calls = names.map((_, position): PlainCall => ({
      unit: id,
      id: `${open.number}.${open.step}.${position}`,
      result: null,
    }));
    open.stage = { type: "running", calls };
    this.leaf = "running";
  }

  answerTool(position: number, text: string): void {
    const { calls } = this.#running();
    const call = calls[position];
    if (call === undefined) throw new Error(`no call ${position}`);
    calls[position] = { ...call, result: { ...said(call.id, "tool", text), unit: call.unit } };
    if (calls.some(({ result }) => result === null)) return;
    this.#settle();
    this.#step(1, false);
  }

  failCall(retryable: boolean): void {
    const open = this.#calling();
    const attempt = open.stage.type === "responding" ? open.stage.attempt + 1 : 1;
    if (!retryable || attempt > attempts) return this.#close(false, null);
    this.#flush();
    open.stage = { type: "backing_off", attempt };
    this.leaf = "backing_off";
  }

  retry(): void {
    if (this.open?.stage.type !== "backing_off") throw new Error("nothing is to be tried again");
    this.#step(this.open.stage.attempt, false);
  }

  cancel(): boolean {
    if (this.open === null) return false;
    if (this.open.stage.type === "running") this.#settle();
    this.#close(false, null);
    return true;
  }

  append(text: string): void {
    const { open } = this;
    if (open === null) {
      this.appended.push(said(`${this.turns.length + 1}.${this.appended.length}`, "user", text));
      return;
    }
    const message = said(`${open.number}.${open.made++}`, "user", text);
    const isOut = open.stage.type === "responding" || open.stage.type === "running";
    (isOut ? open.waiting : open.said).push(message);
  }

  add(question: string, answer: string): boolean {
    if (this.open !== null) return false;
    const number = this.turns.length + 1;
    const before = this.appended.length;
    const written = [
      ...this.appended,
      said(`${number}.${before}`, "user", question),
      said(`${number}.${before + 1}`, "assistant", answer),
    ];
    this.#push(number, this.head, true, written, `${number}.${before + 1}`);
    return true;
  }

  move(to: number): boolean {
    if (this.open !== null) return false;
    // Appended messages stay on the branch where they were appended.
    if (this.appended.length > 0) this.#push(this.turns.length + 1, this.head, true, this.appended, null);
    this.head = to;
    if (!pathOf(this).some(({ number }) => number === this.summarising?.to)) this.summarising = null;
    return true;
  }

  /** Only the first so many characters of an answer were spoken. */
  truncate(number: number, characters: number): boolean {
    const turn = this.turns[number - 1];
    if (this.open !== null || turn === undefined || turn.answer === null) return false;
    turn.said = turn.said.map((each) =>
      each.id === turn.answer ? said(each.id, each.role, each.text.slice(0, characters)) : each,
    );
    // Summaries of the truncated answer are void, as is one that is being written.
    for (const each of this.turns) {
      if (leadsThrough(this, number, each.number)) each.summaries = each.summaries.filter(({ from }) => from > number);
    }
    const { summarising } = this;
    if (summarising !== null && number >= summarising.from && leadsThrough(this, number, summarising.to))
      this.summarising = null;
    return true;
  }

  /** Counts by one counter do not hold for another. */
  configure(config: Config): void {
    this.config = config;
    this.calibration = 1;
    const { open } = this;
    if (open?.stage.type === "responding") open.stage = { ...open.stage, counted: null };
  }

  changeSystem(text: string | null): void {
    this.#systems++;
    this.system = text === null ? null : said(`s${this.#systems}`, "system", text);
  }

  pin(id: string): void {
    this.unpin(id);
    this.pins = [...this.pins, id];
  }

  unpin(id: string): void {
    this.pins = this.pins.filter((pin) => pin !== id);
  }

  /** A summary came; null: it failed. */
  endSummary(text: string | null): void {
    const { summarising, open, config } = this;
    const turn = this.turns.find(({ number }) => number === summarising?.to);
    if (summarising === null || turn === undefined) throw new Error("no summary is written");
    this.summarising = null;
    const most = config.policy.type === "rolling" ? mostSummaryTokens : Number.POSITIVE_INFINITY;
    const isUsed = text !== null && text !== "" && said("", "user", text).tokens <= most;
    if (isUsed) turn.summaries = [...turn.summaries, { from: summarising.from, text }];
    else turn.failures++;
    if (open?.stage.type === "compacting") this.#step(open.stage.attempt, !isUsed);
    else if (isUsed) this.#askSummary(open?.said ?? this.appended);
  }

  // The visible facts.

  /** All that can be pinned. */
  messages(): readonly Said[] {
    const { open } = this;
    const results = open?.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
    const closed = pathOf(this).flatMap((turn) => turn.said);
    return [...this.seed, ...closed, ...this.appended, ...(open?.said ?? []), ...results, ...(open?.waiting ?? [])];
  }

  /** The prompt that the next call would have now. */
  nextPrompt(): readonly Said[] {
    const last = this.open === null ? this.appended : asItStands(this.open);
    const prompt = plainPrompt(this, last, false);
    return fitsInto(this, prompt) ? prompt : plainPrompt(this, last, true);
  }

  // How it comes about.

  /** The next call is made; or waits for a summary, once; or the turn ends. */
  #step(attempt: number, withoutSummary: boolean): void {
    const { open } = this;
    if (open === null) throw new Error("no turn is open");
    const prompt = plainPrompt(this, open.said, withoutSummary);
    const isWritten = !withoutSummary && this.#askSummary(open.said);
    if (fitsInto(this, prompt)) {
      if (attempt === 1) open.step++;
      const tokens = tokensOf(prompt);
      const isMeasured = tokens >= (availableIn(this) ?? Number.POSITIVE_INFINITY) / 4;
      open.stage = { type: "responding", attempt, sent: prompt, counted: isMeasured ? tokens : null };
      this.leaf = "responding";
    } else if (isWritten) {
      open.stage = { type: "compacting", attempt };
      this.leaf = "compacting";
    } else if (!withoutSummary && this.config.policy.type === "rolling") this.#step(attempt, true);
    else {
      const unfit = numbersOf(this, prompt, open.said);
      this.#close(false, null);
      this.calibration = 1;
      this.unfit = unfit;
    }
  }

  /** Whether one is written now. */
  #askSummary(last: readonly Said[]): boolean {
    const wanted = this.summarising === null ? wantedIn(this, last) : null;
    const until = this.turns.find(({ number }) => number === wanted?.to);
    if (wanted === null || until === undefined) return this.summarising !== null;
    const isRead = isReadable(this, wanted);
    if (!isRead && isTriedInVain(this)) return false;
    this.summaries++;
    if (isRead) this.summarising = { number: this.summaries, ...wanted };
    else until.failures++;
    return isRead;
  }

  #measure(reported: number | null): void {
    const stage = this.open?.stage;
    if (stage?.type !== "responding" || stage.counted === null || reported === null) return;
    const ratio = Math.max(1, Math.round((reported / stage.counted) * 100) / 100);
    this.calibration = ratio > 4 ? 1 : ratio;
  }

  #close(completed: boolean, answer: string | null): void {
    const { open } = this;
    if (open === null) throw new Error("no turn is open");
    this.#flush();
    this.#push(open.number, open.parent, completed, open.said, answer);
    this.open = null;
    this.leaf = completed ? "completed" : "error";
  }

  #push(number: number, parent: number, completed: boolean, written: readonly Said[], answer: string | null): void {
    this.turns.push({ number, parent, completed, said: written, answer, summaries: [], failures: 0 });
    this.head = number;
    this.appended = [];
    this.unfit = null;
  }

  #settle(): void {
    this.open?.said.push(...this.#running().calls.map(resultOf));
    this.#flush();
  }

  #flush(): void {
    this.open?.said.push(...this.open.waiting);
    if (this.open !== null) this.open.waiting = [];
  }

  #calling(): PlainOpen {
    if (this.open?.stage.type !== "responding") throw new Error("no call is out");
    return this.open;
  }

  #running(): { readonly calls: PlainCall[] } {
    if (this.open?.stage.type !== "running") throw new Error("no tools are out");
    return this.open.stage;
  }
}
