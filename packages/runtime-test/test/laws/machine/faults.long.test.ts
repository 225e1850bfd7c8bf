// `pnpm test` looks for some of the faults. The long run looks for all.
import "./faults.test.ts";
