// vitest loads this before each test file.
import "./equality.ts";
import "./shrinking.ts";
import fc from "fast-check";

import { noteProcessorTime } from "./processor-time/note.ts";
import { runs } from "./runs.ts";
import { seedOfRun } from "./seed.ts";

// Properties without a number of cases try 100 in the long runs, fast-check's default.
fc.configureGlobal({ seed: seedOfRun(), numRuns: runs(100) });
noteProcessorTime();
