// `pnpm test` looks for some of the faults. The long run looks for all.
import "./policy-faults.test.ts";
