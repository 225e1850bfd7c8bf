// A process that runs test files against one mutant after the other. It swaps the mutant in as the tests load their
// modules, and never writes a file. The tests run in a process of their own, so that this one can end despite an endless
// loop in them; it ends with its parent.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { BaseSequencer, createVitest, type TestModule, type Vitest } from "vitest/node";
import { z } from "zod";

import type { Source } from "../../test/rules/source.ts";
import type { Answer, Job, Passed, Setup } from "./messages.ts";
import { markedText } from "./order.ts";

const main = (): void => {
  process.on("disconnect", () => process.exit());
  // The parent process sends this setup, and both are type-checked together.
  const setup = JSON.parse(process.argv[2] ?? "") as Setup;
  const files = new SwappedFiles(setup);
  const watch = new Watch(setup.secondsWithoutProgressMax, () =>
    answer({ outcome: "timeout", by: relative(setup.root, watch.running) }, () => process.exit()),
  );
  const ready = createVitest(
    {
      root: setup.root,
      config: false,
      watch: false,
      include: [setup.tests],
      setupFiles: [join(import.meta.dirname, "worker-setup.ts")],
      // Some tests change the process's user or folder, which a thread can't.
      pool: "forks",
      execArgv: ["--max-old-space-size=1024"],
      env: { NODE_COMPILE_CACHE: join(setup.root, "node_modules/.cache/compiled") },
      isolate: false,
      maxWorkers: 1,
      bail: 1,
      testTimeout: 20_000,
      hookTimeout: 20_000,
      expect: { poll: { timeout: 10_000 } },
      sequence: { sequencer: AsGiven },
      // The key of the cache on disk is the text of the file, which differs from the text loaded here.
      fsModuleCache: false,
      reporters: [watch],
    },
    { plugins: [files.plugin] },
  );
  process.on("message", (job: Job) => {
    ready
      .then(async (vitest) => answer(await outcomeOf(vitest, files, watch, job)))
      .catch((thrown: unknown) => answer({ outcome: "unable", problem: String(thrown) }, () => process.exit()));
  });
};

const answer = (message: Answer, then?: () => void): void => {
  process.send?.(message, undefined, undefined, then);
};

/** Runs the tests in batches, each twice as large, since vitest loads the rest of a batch even after a failure. */
const outcomeOf = async (vitest: Vitest, files: SwappedFiles, watch: Watch, job: Job): Promise<Answer> => {
  files.swap(vitest, job.mutant);
  const specifications = await vitest.globTestSpecifications([...job.tests]);
  const passed: Passed[] = [];
  for (let from = 0, size = 1; from < job.tests.length; from += size, size *= 2) {
    const tests = job.tests.slice(from, from + size);
    const wanted = tests.flatMap((path) => specifications.filter(({ moduleId }) => files.pathOf(moduleId) === path));
    watch.begin();
    const { unhandledErrors } = await vitest.runTestSpecifications(wanted).finally(() => watch.end());
    passed.push(...watch.ended.flatMap((testModule) => files.passed(testModule) ?? []));
    const failed = watch.ended.find((testModule) => testModule.state() === "failed");
    if (failed !== undefined || unhandledErrors.length > 0) {
      const [error] = [...(failed?.errors() ?? []), ...errorsOfTests(failed), ...unhandledErrors];
      const why = withMessage.safeParse(error).data?.message ?? "";
      return { outcome: "killed", by: files.pathOf(failed?.moduleId ?? watch.running), why, passed };
    }
    // A file may skip all its tests if something is missing, such as recordings.
    const ran = watch.ended.filter((testModule) => ["passed", "skipped"].includes(testModule.state())).length;
    if (ran !== tests.length) {
      return { outcome: "unable", problem: `${tests.length} test files were to run, and ${ran} did` };
    }
  }
  return { outcome: "survived", passed };
};

const withMessage = z.object({ message: z.string() });

const errorsOfTests = (testModule: TestModule | undefined): readonly unknown[] =>
  [...(testModule?.children.allTests("failed") ?? [])].flatMap((each) => each.result().errors ?? []);

/** Keeps test files in the given order. */
class AsGiven extends BaseSequencer {
  override sort(files: Parameters<BaseSequencer["sort"]>[0]): ReturnType<BaseSequencer["sort"]> {
    return Promise.resolve(files);
  }
}

/** Loads the files under test with marks for called functions, and at most one mutant. */
class SwappedFiles {
  readonly #root: string;
  readonly #source: string;
  readonly #known = new Map<string, Source>();
  /** The names of the functions, by the index of their mark. */
  readonly #names: string[] = [];
  readonly #indices = new Map<string, number>();
  #mutant: Job["mutant"] = null;

  readonly plugin = {
    name: "swapped-files",
    enforce: "pre" as const,
    load: (id: string): string | undefined => {
      const path = this.pathOf(id);
      if (!path.startsWith(`${this.#source}/`) || !path.endsWith(".ts")) return undefined;
      const mutant = this.#mutant?.path === path ? this.#mutant : null;
      return markedText(this.#sourceOf(path), mutant, (name) => this.#indexOf(name));
    },
  };

  constructor({ root, source }: Setup) {
    this.#root = root;
    this.#source = source;
  }

  pathOf(id: string): string {
    return relative(this.#root, id).replaceAll("\\", "/");
  }

  swap(vitest: Vitest, mutant: Job["mutant"]): void {
    for (const each of [this.#mutant, mutant]) if (each !== null) vitest.invalidateFile(join(this.#root, each.path));
    this.#mutant = mutant;
  }

  passed(testModule: TestModule): Passed | undefined {
    if (testModule.state() !== "passed") return undefined;
    const { collectDuration, duration } = testModule.diagnostic();
    const { loaded, reached } = reachedBy.parse(testModule.meta());
    const names = (indices: readonly number[]): readonly string[] =>
      indices.map((index) => this.#names[index]).filter((name) => name !== undefined);
    return {
      path: this.pathOf(testModule.moduleId),
      seconds: (collectDuration + duration) / 1000,
      loaded: names(loaded),
      reached: names(reached),
    };
  }

  #sourceOf(path: string): Source {
    const source = this.#known.get(path) ?? { path, text: readFileSync(join(this.#root, path), "utf8") };
    this.#known.set(path, source);
    return source;
  }

  #indexOf(name: string): number {
    const index = this.#indices.get(name) ?? this.#names.push(name) - 1;
    this.#indices.set(name, index);
    return index;
  }
}

/** The record from `worker-setup.ts`. */
const reachedBy = z.object({ loaded: z.array(z.number()), reached: z.array(z.number()) });

/** Watches the tests end, and calls `loop` if none ends within some processor seconds. */
class Watch {
  /** The file whose tests run. */
  running = "";
  /** The files whose tests have ended in this run, not in earlier ones. */
  ended: TestModule[] = [];
  readonly #secondsMax: number;
  readonly #loop: () => void;
  /** The ticks of the timer, one a second, since a file was queued or a test ended. */
  #idle = 0;
  /** The processor seconds at the first look since then; null before it. */
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(secondsMax: number, loop: () => void) {
    this.#secondsMax = secondsMax;
    this.#loop = loop;
  }

  begin(): void {
    this.ended = [];
    this.#progress();
    this.#timer = setInterval(() => {
      // To ask for them starts a process, which took a quarter of the time of all tests when it ran each second.
      if (++this.#idle % secondsPerLook !== 0) return;
      const now = processorSeconds();
      this.#since ??= now;
      if (now - this.#since < this.#secondsMax) return;
      this.end();
      this.#loop();
    }, 1000);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.running = moduleId;
    this.#progress();
  }

  onTestModuleEnd(testModule: TestModule): void {
    this.ended.push(testModule);
  }

  onTestCaseResult(): void {
    this.#progress();
  }

  #progress(): void {
    this.#idle = 0;
    this.#since = null;
  }
}

const secondsPerLook = 5;

/** Returns the CPU time of this process's group, which stops while other processes use the machine. */
const processorSeconds = (): number =>
  execFileSync("ps", ["-A", "-o", "pgid=,time="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([group]) => group === String(process.pid))
    .map(([, time = ""]) => time.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0))
    .reduce((sum, seconds) => sum + seconds, 0);

main();
