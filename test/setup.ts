// vitest loads this before each file of tests.
import "./equality.ts";
import "./shrinking.ts";
import fc from "fast-check";

import { noteProcessorTime } from "./processor-time/note.ts";
import { runs } from "./runs.ts";
import { seedOfRun } from "./seed.ts";

// Properties that name no number of cases try 100 in the long runs, which is the default of fast-check.
fc.configureGlobal({ seed: seedOfRun(), numRuns: runs(100) });
noteProcessorTime();
