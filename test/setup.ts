// vitest loads this before each file of tests.
import "./shrinking.ts";
import fc from "fast-check";

import { noteProcessorTime } from "./processor-time/note.ts";
import { seedOfRun } from "./seed.ts";

fc.configureGlobal({ seed: seedOfRun() });
noteProcessorTime();
