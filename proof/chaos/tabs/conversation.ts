import { setTimeout as pause } from "node:timers/promises";

import type { BrowserContext } from "playwright-core";

import type { ValuesOf } from "../../kit/command.ts";
import { whole } from "../../kit/options.ts";
import type { Random } from "../../kit/random.ts";
import type { Had, Shown } from "./judge.ts";
import type { TabCall, TabServer } from "./server.ts";
import { OpenedTab, waysToGo, type WayToGo } from "./tab.ts";
import type { Ending, Report, TabOptions } from "./talk.ts";

export const tabOptions = {
  asks: whole(60, "the number of asks in each"),
  tabs: whole(3, "the number of open tabs", { least: 2 }),
  closes: whole(12, "the number of tabs that close, crash or reload", { least: 0 }),
  // Stalls use a short lease; otherwise the lease is so long that a wait for its end would fail the run.
  stalls: whole(0, "the number of stalls of a tab past its lease, which is then short", { least: 0 }),
} as const;

export type RunOptions = ValuesOf<typeof tabOptions>;

export type Use = RunOptions & { readonly options: Omit<TabOptions, "tab"> };

export interface ConversationParts {
  readonly context: BrowserContext;
  readonly server: TabServer;
  readonly url: string;
  readonly random: Random;
  readonly use: Use;
}

const kinds = ["plain", "plain", "lookup", "notify", "charge", "refund", "retry", "two"] as const;

export class Conversation {
  readonly performedBy: TabCall[] = [];
  /** The milliseconds from a tab's end in mid-turn until another one continued. */
  readonly tookOver: number[] = [];
  readonly went: Record<WayToGo | "stall", number> = { close: 0, crash: 0, reload: 0, stall: 0 };
  readonly troubles: string[] = [];
  readonly #parts: ConversationParts;
  readonly #fates = new Map<string, Fate>();
  readonly #acknowledged = new Set<string>();
  readonly #endings: { readonly askId: string; readonly ending: Ending }[] = [];
  readonly #shown: Shown[] = [];
  readonly #approvals = new Set<string>();
  readonly #gone = new Map<number, number>();
  readonly #plan: { readonly at: number; readonly what: "go" | "stall" }[];
  #tabs: OpenedTab[] = [];
  #numbers = 0;
  #left: { readonly tab: number; readonly at: number } | null = null;
  #news: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    const { closes, stalls, asks } = parts.use;
    const moments = (count: number, what: "go" | "stall") =>
      Array.from({ length: count }, () => ({ at: parts.random.integer(1, 2 * asks), what }));
    this.#plan = [...moments(closes, "go"), ...moments(stalls, "stall")].sort((one, other) => one.at - other.at);
  }

  async hold(): Promise<Had> {
    for (let count = 0; count < this.#parts.use.tabs; count += 1) await this.#open();
    while (!this.#isOver) {
      const next = this.#next();
      if (next === null) await this.#untilNews();
      else await next();
    }
    return this.#end();
  }

  heard(report: Report): void {
    if (report.type === "trouble") this.troubles.push(`tab ${report.tab}: ${report.words}`);
    if (report.type === "approval") this.#approvals.add(report.id);
    if (report.type === "shown") {
      const { askId, part } = report;
      this.#shown.push(report);
      if (part.type === "approval.requested") this.#approvals.add(part.request.id);
      if (part.type !== "wait.started" && part.type !== "wait.ended") this.#acknowledged.add(askId);
    }
    if (report.type === "ended") this.#ended(report.askId, report.tab, report.ending);
    this.#wake();
  }

  called(call: TabCall): void {
    this.performedBy.push(call);
    if (this.#left !== null && this.#left.tab !== call.tab) {
      this.tookOver.push(call.at - this.#left.at);
      this.#left = null;
    }
    this.#wake();
  }

  #ended(askId: string, tab: number, ending: Ending): void {
    const fate = this.#fates.get(askId);
    if (fate === undefined) return;
    // The ask may be repeated, and is.
    if (mayPass(ending)) return this.#again(askId, fate);
    this.#endings.push({ askId, ending });
    if (fate.tab === tab) fate.isEnded = true;
  }

  #again(askId: string, fate: Fate): void {
    const tab = this.#parts.random.pick(this.#awake);
    if (tab === undefined) return;
    fate.tab = tab.number;
    void this.#try(tab, tab.do("ask", askId, fate.input, "ask"));
  }

  get #awake(): readonly OpenedTab[] {
    return this.#tabs.filter(({ isStalled }) => !isStalled);
  }

  get #isOver(): boolean {
    const isDone = [...this.#fates.values()].every(({ tab, isEnded }) => isEnded || tab === null);
    return this.#fates.size >= this.#parts.use.asks && isDone && this.#parts.server.held.size === 0;
  }

  /** Returns the next action; null if it can only wait. */
  #next(): (() => Promise<void>) | null {
    const { asks, tabs } = this.#parts.use;
    const [due] = this.#plan;
    if (due !== undefined && due.at <= this.performedBy.length && this.#awake.length > 1) {
      this.#plan.shift();
      return () => (due.what === "go" ? this.#leave() : this.#stall());
    }
    const waiting = [...this.#fates.values()].filter(({ tab, isEnded }) => !isEnded && tab !== null).length;
    const isLeft = this.#fates.size < asks;
    const isHeld = this.#parts.server.held.size > 0;
    const choices: readonly (readonly [boolean, number, () => Promise<void>])[] = [
      [this.#tabs.length < tabs, 4, () => this.#open()],
      [isLeft && waiting < 4, 6, () => this.#ask("ask")],
      [isLeft && isHeld, 1, () => this.#ask("steer")],
      [isHeld && this.#fates.size > 3, 1, () => this.#do("cancel")],
      [isHeld, 12, () => this.#letGo()],
      [this.#approvals.size > 0, 6, () => this.#decide()],
    ];
    const open = choices.flatMap(([isOpen, weight, act]) => (isOpen ? Array<typeof act>(weight).fill(act) : []));
    return this.#parts.random.pick(open) ?? null;
  }

  async #open(): Promise<void> {
    this.#tabs.push(await OpenedTab.open(this.#parts.context, this.#parts.url, this.#options()));
  }

  #options(): TabOptions {
    return { ...this.#parts.use.options, tab: (this.#numbers += 1) };
  }

  async #ask(how: "ask" | "steer"): Promise<void> {
    const tab = this.#parts.random.pick(this.#awake);
    if (tab === undefined) return;
    const askId = `ask-${this.#fates.size + 1}`;
    const input = `${this.#parts.random.pick(kinds) ?? "plain"} ${askId}`;
    this.#fates.set(askId, { input, tab: tab.number, isEnded: false });
    await this.#try(tab, tab.do("ask", askId, input, how));
  }

  async #do(name: "cancel" | "resume"): Promise<void> {
    const tab = this.#parts.random.pick(this.#awake);
    if (tab !== undefined) await this.#try(tab, tab.do(name));
  }

  async #letGo(): Promise<void> {
    this.#parts.random.pick([...this.#parts.server.held])?.letGo();
    await pause(0);
  }

  async #decide(): Promise<void> {
    const [tab, id] = [this.#parts.random.pick(this.#awake), this.#parts.random.pick([...this.#approvals])];
    if (tab === undefined || id === undefined) return;
    this.#approvals.delete(id);
    await this.#try(tab, tab.do("decide", id, this.#parts.random.percent(75)));
  }

  /** Ends a tab, mostly one in the middle of a call, and resumes the thread in another. */
  async #leave(): Promise<void> {
    const [call] = this.#parts.server.held;
    const busy = this.#awake.find(({ number }) => number === call?.tab);
    const tab = busy !== undefined && this.#parts.random.percent(75) ? busy : this.#parts.random.pick(this.#awake);
    const how = this.#parts.random.pick(waysToGo);
    if (tab === undefined || how === undefined) return;
    this.went[how] += 1;
    const at = performance.now();
    this.#gone.set(tab.number, at);
    if (call?.tab === tab.number) this.#left = { tab: tab.number, at };
    this.#tabs = this.#tabs.filter((each) => each !== tab);
    const next = await tab.go(how, this.#options());
    if (next !== null) this.#tabs.push(next);
    for (const [askId, fate] of this.#fates) {
      if (fate.tab !== tab.number || fate.isEnded) continue;
      fate.tab = null;
      // The asker may repeat the ask in another tab.
      if (this.#parts.random.percent(50)) this.#again(askId, fate);
    }
    await this.#do("resume");
  }

  /** Stalls a tab in the middle of a call until another one continues, and then lets it continue. */
  async #stall(): Promise<void> {
    const [call] = this.#parts.server.held;
    const tab = this.#awake.find(({ number }) => number === call?.tab);
    if (tab === undefined || this.#awake.length < 2) return;
    this.went.stall += 1;
    tab.isStalled = true;
    // If it stalls at an append, only the store can keep it from overwriting another tab's entries.
    const when = this.#parts.random.pick(["now", "append", "append"] as const) ?? "now";
    this.#parts.server.isStalling = true;
    const standing = this.#try(tab, tab.do("stall", when));
    const before = this.performedBy.length;
    if (when === "append") {
      await standing;
      this.#parts.server.answer((each) => each.tab === tab.number);
    }
    const until = performance.now() + 6 * this.#parts.use.options.leaseTtlMs;
    const isTaken = (): boolean => this.performedBy.slice(before).some((each) => each.tab !== tab.number);
    await this.#do("resume");
    while ((this.#parts.server.stalled === 0 || !isTaken()) && performance.now() < until) await pause(20);
    // Meanwhile the other tabs journal their answers, mostly more than the stalled one is about to.
    if (this.#fates.size < this.#parts.use.asks) await this.#ask("ask");
    for (let more = this.#parts.random.integer(0, 4); more > 0; more -= 1) {
      this.#parts.server.answer((each) => each.tab !== tab.number);
      await pause(this.#parts.random.integer(20, 60));
    }
    this.#parts.server.goOn();
    await standing;
    tab.isStalled = false;
  }

  /** Awaits an action of a tab, which may fail if the tab goes meanwhile. */
  async #try(tab: OpenedTab, doing: Promise<unknown>): Promise<void> {
    try {
      await doing;
    } catch (error) {
      if (!this.#gone.has(tab.number)) this.troubles.push(`tab ${tab.number}: ${String(error)}`);
    }
  }

  /** Waits for news. Without any for a while, resumes the thread again. */
  async #untilNews(): Promise<void> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      if (await Promise.race([this.#news.promise.then(() => true), pause(lookMs, false)])) return;
      const tab = this.#parts.random.pick(this.#awake);
      if (tab === undefined) continue;
      await this.#try(tab, tab.do("resume"));
      for (const id of await tab.do("approvals")) this.#approvals.add(id);
      if (this.#approvals.size > 0) return;
    }
    const open = [...this.#fates].filter(([, { tab, isEnded }]) => !isEnded && tab !== null).map(([askId]) => askId);
    throw new Error(`no tab continues ${open.join(", ")}`);
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Lets all work end, then repeats each ask once. */
  async #end(): Promise<Had> {
    this.#parts.server.open();
    await this.#open();
    const last = this.#tabs.at(-1);
    if (last === undefined) throw new Error("no tab could be opened");
    await this.#settled(last);
    const { journal } = await last.do("see");
    const asked = new Map([...this.#fates].map(([askId, { input }]) => [askId, input]));
    const taken = takenIn(journal);
    for (const [askId, fate] of this.#fates) {
      if (!taken.has(askId)) continue;
      Object.assign(fate, { tab: last.number, isEnded: false });
      await this.#try(last, last.do("ask", askId, fate.input, "ask"));
    }
    while (!this.#isOver) await this.#untilNews();
    const { journal: again } = await last.do("see");
    return {
      journal,
      again,
      seen: await Promise.all(this.#tabs.map((tab) => tab.do("see"))),
      asked,
      acknowledged: this.#acknowledged,
      endings: this.#endings,
      shown: this.#shown,
      performed: this.performedBy,
      gone: this.#gone,
      hasStalled: this.went.stall > 0,
    };
  }

  async #settled(last: OpenedTab): Promise<void> {
    const resting = last.do("rest").then(() => true);
    let called = this.performedBy.length;
    for (let looks = 0; looks < looksMax; looks += 1) {
      if (await Promise.race([resting, pause(lookMs, false)])) return;
      if (this.performedBy.length > called) looks = 0;
      called = this.performedBy.length;
      for (const id of await last.do("approvals")) await this.#try(last, last.do("decide", id, true));
    }
    throw new Error("the thread does not come to rest");
  }
}

const lookMs = 500;
/** The number of looks without news of a call before the run fails. */
const looksMax = 30;

interface Fate {
  readonly input: string;
  /** The tab that waits for it; null if that is gone and no tab has repeated the ask. */
  tab: number | null;
  isEnded: boolean;
}

/** Checks that an ask was rejected for a passing reason, so that it may be repeated. */
const mayPass = (ending: Ending): boolean => ending.type === "failed" && passing.includes(ending.name);

const passing: readonly string[] = ["ThreadHeldError", "LeaseLostError", "SequenceConflictError", "StoreError"];

const takenIn = (journal: readonly unknown[]): ReadonlySet<string> =>
  new Set(
    journal.flatMap((entry) => {
      // A journal has at least these members; the judge decodes it.
      const { event } = entry as { readonly event: { readonly type: string; readonly askId?: string } };
      return event.type === "ask.received" && event.askId !== undefined ? [event.askId] : [];
    }),
  );
