// Visits all schedules of a scene up to a bound: each departure from what happens by itself costs one. A state that was
// reached before with as much of the bound left is not continued again.
import { setImmediate as nextMacrotask } from "node:timers/promises";

import type { Entry } from "@colloquy/machine";

import { judge } from "./judge.ts";
import { type Fault, Run } from "./run.ts";
import type { Scene } from "./scene.ts";

/** The visits of a search. Plain data, so that a worker can send it. */
export interface Visited {
  readonly schedules: number;
  /** The schedules that led to a known state, and were not continued. */
  readonly pruned: number;
  readonly steps: number;
  readonly violation: Violation | null;
}

export interface Violation {
  readonly what: string;
  /** The steps, a line each; departures are marked. */
  readonly schedule: readonly string[];
}

interface Visit {
  readonly path: readonly number[];
  /** The prefixes from here on that are still to be visited. */
  readonly open: readonly (readonly number[])[];
  readonly isPruned: boolean;
  readonly violation: Violation | null;
}

/** A search of one scene. */
export class Search {
  readonly #scene: Scene;
  readonly #bound: number;
  readonly #fault: Fault | undefined;
  readonly #seen = new Map<number, number>();
  #uncrashed: readonly Entry[] | null = null;

  constructor(scene: Scene, bound: number, fault?: Fault) {
    this.#scene = scene;
    this.#bound = bound;
    this.#fault = fault;
  }

  /** The keys of the states that were reached. */
  get states(): Float64Array<ArrayBuffer> {
    return Float64Array.from(this.#seen.keys());
  }

  /** Visits the schedules that begin so, until one breaks a law. */
  async visit(prefix: readonly number[]): Promise<Visited> {
    const stack: (readonly number[])[] = [prefix];
    let [schedules, pruned, steps] = [0, 0, 0];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { isPruned, path, open, violation } = await this.schedule(next);
      schedules++;
      steps += path.length;
      if (isPruned) pruned++;
      if (violation !== null) return { schedules, pruned, steps, violation };
      for (const each of open) stack.push(each);
    }
    return { schedules, pruned, steps, violation: null };
  }

  /** Runs one schedule: the given choices, and then what happens by itself. */
  async schedule(prefix: readonly number[]): Promise<Visit> {
    const run = new Run(this.#scene, this.#fault);
    const path: number[] = [];
    const taken: string[] = [];
    const open: number[][] = [];
    let left = this.#bound;
    const visited = (isPruned: boolean, broken: string | null): Visit => ({
      path,
      open,
      isPruned,
      violation: broken === null ? null : { what: broken, schedule: taken },
    });
    for (;;) {
      await nextMacrotask();
      if (run.world.broken !== null) return visited(false, run.world.broken);
      if (run.user.isSettled) break;
      const isNew = path.length >= prefix.length;
      if (isNew) {
        const { key } = run;
        if ((this.#seen.get(key) ?? -1) >= left) return visited(true, null);
        this.#seen.set(key, left);
      }
      const index = prefix[path.length] ?? 0;
      const mayDepart = isNew && (left > 0 || run.keepsBack);
      const choices = mayDepart || index > 0 ? run.choices() : null;
      if (mayDepart && choices !== null) {
        for (const [other, { cost }] of choices.entries()) if (other > 0 && cost <= left) open.push([...path, other]);
      }
      const choice = choices === null ? run.byItself() : choices[index];
      if (choice === undefined) return visited(false, "settles: nothing can happen any more, and the user still waits");
      if (path.length >= stepsMax) return visited(false, `settles: after ${stepsMax} steps the user still waits`);
      path.push(index);
      if (index > 0) left -= choice.cost;
      taken.push(`${index === 0 ? " " : "*"} ${choice.what}`);
      await choice.take();
    }
    const isClosed = await run.close(nextMacrotask);
    if (run.world.broken !== null) return visited(false, run.world.broken);
    if (!isClosed) return visited(false, "settles: the hosts never close");
    return visited(false, await judge(run, this.#uncrashed));
  }
}

const stepsMax = 1_000;
