// `pnpm test` has some of the threads ask others. The long run has all.
import "./nested-asks.test.ts";
