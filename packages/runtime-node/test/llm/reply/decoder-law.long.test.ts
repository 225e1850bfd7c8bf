// `pnpm test` looks for some of the faults, the long run for all.
import "./decoder-law.test.ts";
