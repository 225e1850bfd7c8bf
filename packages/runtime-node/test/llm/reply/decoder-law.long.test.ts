// `pnpm test` looks for some of the faults. The long run looks for all.
import "./decoder-law.test.ts";
